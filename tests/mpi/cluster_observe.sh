#!/usr/bin/env bash
# cluster_observe.sh PROGRAM PLUGIN_DIR {openmpi|mpich} WORK CHECK [FILCH]: what a job of 3 ranks tells
# about itself: counters, a merged trace, progress, `filch top --ranks`, and its CPU time while it is
# idle.  PROGRAM is cluster_hurt, WORK is cluster_work, and CHECK is tests/api/trace/check.py.
set -euo pipefail
program=$(readlink -f -- "$1")
export FILCH_MPI_PLUGIN_DIR=$2
mpi=$3
work_program=$(readlink -f -- "$4")
check=$5
filch=${6:-}
# shellcheck source=SCRIPTDIR/cluster_lib.sh
. "${BASH_SOURCE[0]%/*}/cluster_lib.sh"
export FILCH_WORKERS=1
mpi_check "$mpi"

# row NAME COLUMN: a value of the table of counters.
row() {
    awk -v name="$1" -v column="$2" '$1 == "filch:" && $2 == name { print $(column + 2) }' "$work/output"
}

# ---- counters and trace: other ranks steal 1,000 items behind a long one ----
: >"$work/shared"
trace=$work/trace.json
FILCH_STATS=1 FILCH_TRACE=$trace "$here/run" "$mpi" 3 "$work_program" "$work/shared" long \
    >"$work/output" 2>&1 || fail "status $?"
has 1 '^filch: counters of 3 ranks, 1 run, '
has 1 '^filch: items '
[ "$(row items 1)" -eq 1001 ] || fail 'items of all ranks'
[ "$(row items 2)" -ge 1 ] || fail 'items of the rank with the fewest'
[ "$(row runs 1)" -eq 3 ] || fail 'runs'
[ "$(row loots_in 1)" -eq "$(row loots_out 1)" ] || fail 'loots in and out'
[ "$(row gifts_in 1)" -eq "$(row gifts_out 1)" ] || fail 'gifts in and out'
[ "$(row bytes_in 1)" -eq "$(row bytes_out 1)" ] || fail 'bytes in and out'
loots=$(($(row loots_in 1) + $(row gifts_in 1)))
[ "$loots" -ge 1 ] || fail 'loots'

files=$(cd "$work" && echo trace.json*)
[ "$files" = trace.json ] || fail "traces that are left: $files"
if command -v python3 >/dev/null; then
    python3 "$check" "$trace" workers=3 overwritten=no || fail 'the merged trace'
    python3 - "$trace" "$loots" <<'END' || fail 'loots of the merged trace'
import json
import sys

trace = json.load(open(sys.argv[1]))
events, loots = trace["traceEvents"], int(sys.argv[2])
groups = {e["args"]["name"].split(" on ")[0] for e in events if e["name"] == "process_name"}
assert groups == {"rank 0", "rank 1", "rank 2"}, groups
starts = {e["id"]: e for e in events if e["ph"] == "s" and e.get("cat") == "loot"}
ends = {e["id"]: e for e in events if e["ph"] == "f" and e.get("cat") == "loot"}
assert starts.keys() == ends.keys() and len(starts) == loots, (len(starts), len(ends), loots)
assert all(starts[i]["ts"] <= ends[i]["ts"] and starts[i]["pid"] != ends[i]["pid"] for i in starts)
END
fi
printf '== %s, counters and trace: %s loots\n' "$mpi" "$loots"

# ---- progress, and the table of ranks ----
launch gate FILCH_CLUSTER_PROGRESS_MS=50
progress='^filch: [0-9.]+ s  0 items  0/s  3 of 3 ranks busy  oldest silence [0-9.]+ s$'
await 'line of progress' grep -Eq "$progress" "$work/output"
if [ -n "$filch" ]; then
    "$filch" top --ranks --once -i 100 "${pids[0]}" >"$work/top" || fail 'filch top --ranks'
    for rank in 0 1 2; do
        grep -Eq "^ +$rank .* ${pids[rank]} " "$work/top" || fail "rank $rank in: $(cat "$work/top")"
    done
    grep -q '; 3 of 3 ranks busy; ' "$work/top" || fail "busy ranks in: $(cat "$work/top")"
fi
open_gate
ends 0 'progress and table of ranks'
has 1 '^the result is right$'

# ---- idle ranks ----

# ticks PID...: CPU time of processes, in clock ticks.
ticks() {
    local pid fields sum=0
    for pid in "$@"; do
        read -r -a fields < <(sed 's/.*) //' "/proc/$pid/stat")
        sum=$((sum + fields[11] + fields[12]))
    done
    echo $sum
}

launch idle
before=$(ticks "${pids[1]}" "${pids[2]}")
began=$(date +%s%N)
sleep 2
used=$((($(ticks "${pids[1]}" "${pids[2]}") - before) * 1000 / $(getconf CLK_TCK)))
wall=$((($(date +%s%N) - began) / 1000000))
printf '== %s, idle: 2 waiting ranks used %d ms of CPU in %d ms\n' "$mpi" "$used" "$wall"
# A rank that polls would use all CPU time that the machine has for it.
[ $((3 * used)) -lt "$wall" ] || fail 'CPU time of the waiting ranks'
open_gate
ends 0 'idle ranks'
echo 'all passed'
