#!/bin/sh
# httpd-filch-traced PORT: Filch's server, which traces what it does and throws it away in the end: what does a trace cost?
FILCH_TRACE=/dev/null exec "${0%-traced}" "$@"
