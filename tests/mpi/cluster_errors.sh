#!/usr/bin/env bash
# cluster_errors.sh PROGRAM PLUGIN_DIR {openmpi|mpich}: run PROGRAM (cluster_errors) in each of its
# modes.  Checks exit statuses, messages, and that no process is left.
set -euo pipefail
program=$(readlink -f -- "$1")
export FILCH_MPI_PLUGIN_DIR=$2
mpi=$3
# shellcheck source=SCRIPTDIR/cluster_lib.sh
. "${BASH_SOURCE[0]%/*}/cluster_lib.sh"
export FILCH_WORKERS=1

# ends STATUS RANKS MODE VARIABLE=VALUE...: STATUS is a pattern for the status of the launcher.
ends() {
    local expected=$1 n=$2 mode=$3 status=0
    shift 3
    printf '== %s, %s %s\n' "$mpi" "$mode" "$*"
    new_token cluster_errors
    : >"$work/shared"
    : >"$work/output"
    env "$@" "$here/run" "$mpi" "$n" "${direct[@]}" "$program" "$mode" "$work/shared" "$token" \
        >>"$work/output" 2>&1 || status=$?
    if [ "$status" -eq 77 ]; then cat -- "$work/output" && exit 77; fi
    # shellcheck disable=SC2254  # a pattern
    case $status in
    $expected) ;;
    *) fail "$mode: expected status $expected, got $status" ;;
    esac
    await_none
}

ends 0 3 results FILCH_WORKERS=1
has 3 'filch_cluster_start: the cluster has been started in this process$'
has 1 'filch_pool_push: the item is too large \(65537 bytes\); use at most 65536$'
ends 0 3 stop FILCH_WORKERS=1

# Open MPI passes the status.  MPICH has another one.
failure='[1-9]*'
if [ "$mpi" = openmpi ]; then failure=1; fi
for mode in exit return; do
    ends "$failure" 3 "$mode" FILCH_WORKERS=1
    has 1 'filch: rank 1 \(.*, pid [0-9]+\): exit\(\) was called between filch_cluster_start and filch_cluster_stop; all ranks end with status 1$'
done

ends '[1-9]*' 2 settings FILCH_CLUSTER=tcp
has 2 "filch: filch_cluster_start: unknown transport \\('tcp'\\); use 'auto', 'one' or 'mpi'$"
has 2 '^start: EINVAL$'
ends 0 2 settings FILCH_CLUSTER_LOOT=7
has 2 "filch: FILCH_CLUSTER_LOOT: invalid number \\('7'\\); use 1024 to 1073741824; the value is ignored$"
ends '[1-9]*' 2 settings FILCH_CLUSTER_LOOT=7 FILCH_STRICT=1
has 2 "filch: FILCH_CLUSTER_LOOT: invalid number \\('7'\\); use 1024 to 1073741824$"
has 2 '^start: EINVAL$'

# The plugin of the launcher's MPI cannot be loaded.
mkdir "$work/plugins"
echo text >"$work/plugins/filch-mpi-$mpi.so"
ends '[1-9]*' 2 plugin "FILCH_MPI_PLUGIN_DIR=$work/plugins"
has 2 "filch: filch_cluster_start: a launcher of .* started this process, but filch-mpi-$mpi.so cannot be loaded \\("
has 2 '^start: ENOENT$'

# The plugin is of the other MPI: each process would be a job of its own.
other=mpich
if [ "$mpi" = mpich ]; then other=openmpi; fi
if [ -e "$2/filch-mpi-$other.so" ]; then
    ln -sf "$(readlink -f -- "$2")/filch-mpi-$other.so" "$work/plugins/filch-mpi-$mpi.so"
    ends '[1-9]*' 2 plugin "FILCH_MPI_PLUGIN_DIR=$work/plugins"
    has 2 'filch: filch_cluster_start: .* are of different MPI libraries$'
    has 2 '^start: EPROTO$'
fi
echo 'all passed'
