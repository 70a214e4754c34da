#!/usr/bin/env bash
# probes_test.sh LIBRARY ON|OFF: the library has the documented USDT probes, with their arguments.
set -euo pipefail
library=$1
[ "$2" = ON ] || { echo "skipped: built without <sys/sdt.h>" && exit 77; }
command -v readelf >/dev/null || { echo "skipped: readelf is not installed" && exit 77; }

# One line for each probe: its name and the number of its arguments.
found=$(readelf -n "$library" | awk '
    $1 == "Provider:" { ours = $2 == "filch" }
    ours && $1 == "Name:" { name = $2 }
    ours && $1 == "Arguments:" { print name, NF - 1 }' | sort -u)
wanted='begin 3
block 1
block__end 0
caller_runs 1
caller_runs__end 1
end 1
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
diff <(printf '%s\n' "$wanted") <(printf '%s\n' "$found") || { echo "FAILED: the probes differ" >&2 && exit 1; }
