#!/usr/bin/env bash
# probes_test.sh LIBRARY ON|OFF: the library tells perf and bpftrace where its probes are and what they are given.
set -euo pipefail
library=$1
[ "$2" = ON ] || { echo "skipped: it was built without <sys/sdt.h>" && exit 77; }
command -v readelf >/dev/null || { echo "skipped: there is no readelf" && exit 77; }

# name arguments, one line for each place
there=$(readelf -n "$library" | awk '
    $1 == "Provider:" { mine = $2 == "filch" }
    mine && $1 == "Name:" { name = $2 }
    mine && $1 == "Arguments:" { print name, NF - 1 }' | sort -u)
wanted='begin 3
block 1
block__end 0
end 1
guest 1
guest__end 1
poll 1
poll__end 2
publish 2
ready 2
run 2
search 1
search__end 2
sleep 1
steal 3
stop 3
timers 1
timers__end 1
woken 1'
diff <(printf '%s\n' "$wanted") <(printf '%s\n' "$there") || { echo "FAILED: these are not the probes" >&2 && exit 1; }
