#!/usr/bin/env bash
# cluster_hurt.sh PROGRAM PLUGIN_DIR {openmpi|mpich}: kill, stop and slow down ranks of PROGRAM
# (cluster_hurt) and their launcher.  Checks that all processes end, and messages or results.
set -euo pipefail
program=$(readlink -f -- "$1")
export FILCH_MPI_PLUGIN_DIR=$2
mpi=$3
# shellcheck source=SCRIPTDIR/cluster_lib.sh
. "${BASH_SOURCE[0]%/*}/cluster_lib.sh"
export FILCH_WORKERS=1
mpi_check "$mpi"

# Ranks look at each other once a second, so the warning may be left out shortly before the end.
one_warning() {
    [ "$(grep -c 'has been silent for [0-9.]* s$' "$work/output" || true)" -le 1 ] || fail 'more than one warning'
}

# The launcher names a rank.  That of MPICH kills the others before they can, and may name one of them.
names_killed() {
    if [ "$mpi" = openmpi ]; then
        has 1 "noticed that process rank $1 "
    else
        has 1 "PID (${pids[0]}|${pids[1]}|${pids[2]}) RUNNING AT"
    fi
}

# A killed rank: the launcher ends the others.
for rank in 0 1 2; do
    launch endless
    kill -KILL "${pids[rank]}"
    ends '[1-9]*' "kill of rank $rank"
    names_killed "$rank"
done

# Between runs, too.
launch between
kill -KILL "${pids[1]}"
ends '[1-9]*' 'kill of rank 1 between runs'
names_killed 1

# A killed launcher: the ranks notice.
launch endless
kill -KILL "$launcher"
ends 137 'kill of the launcher'

# A rank that is stopped for a while.
launch gate
kill -STOP "${pids[1]}"
sleep 2
kill -CONT "${pids[1]}"
open_gate
ends 0 'stop of rank 1 for 2 s'
has 1 '^the result is right$'
one_warning

# A rank that is stopped for ever.
launch endless FILCH_CLUSTER_SILENCE_MS=4000
kill -STOP "${pids[1]}"
ends '[1-9]*' 'stop of rank 1 for ever'
one_warning
has 1 "filch: rank 0 \\(.*\\): rank 1 \\(.+, pid ${pids[1]}\\) has been silent for [0-9.]+ s and counts as dead; all ranks end \\(FILCH_CLUSTER_SILENCE_MS sets the time\\)\$"

# A rank that starts late: the others say that they wait.
launch late FILCH_CLUSTER_SILENCE_MS=4000
warning='filch: filch_cluster_start: pid [0-9]+ has waited for 4 s for the other ranks; '
await 'warning of the start' grep -Eq "$warning" "$work/output"
open_gate
ends 0 'a rank that starts late'
has 1 '^the result is right$'

# A rank that gets nearly no CPU.
for _ in $(seq "$(nproc)"); do
    (while :; do :; done) &
    helpers+=($!)
done
launch gate
renice -n 19 -p "${pids[1]}" >/dev/null
open_gate
ends 0 'rank 1 at nice 19 beside busy loops'
has 1 '^the result is right$'
echo 'all passed'
