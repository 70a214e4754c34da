#!/bin/sh
# httpd-filch-traced PORT: Filch's server with tracing on and the trace discarded.  It shows the
# cost of tracing.
FILCH_TRACE=/dev/null exec "${0%-traced}" "$@"
