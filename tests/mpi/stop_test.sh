#!/usr/bin/env bash
# stop_test.sh PROGRAM PLUGIN_DIR {openmpi|mpich} [namespaces]: run PROGRAM (stop_test) in each of its
# modes, on one node or on two.  Checks the exit status, and that no process is left.
set -euo pipefail
program=$(readlink -f -- "$1")
export FILCH_MPI_PLUGIN_DIR=$2
mpi=$3
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
# shellcheck source=SCRIPTDIR/environment.sh
. "$here/environment.sh"
run=$here/${4:-run}
files=$(mktemp -d)
output=$files/output
cases=0
token=

cleanup() {
    if [ -n "$token" ]; then pkill -KILL -f -- "$token" || true; fi
    rm -rf -- "$files"
}
trap cleanup EXIT
mpi_files "$files"

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    cat -- "$output" >&2
    exit 1
}

# Wait until no process has the token in its arguments.  The time limit of the test is the limit.
await_none() {
    while pgrep -f -- "$token" >/dev/null; do sleep 0.05; done
}

# ends MODE EXPECTED: run 3 ranks.  EXPECTED: a pattern for the exit status of the launcher.
ends() {
    local status=0 began
    token=stop_test-$$-$1
    began=$(date +%s%N)
    "$run" "$mpi" 3 "$program" "$1" "$token" >"$output" 2>&1 || status=$?
    if [ "$status" -eq 77 ]; then cat -- "$output" && exit 77; fi
    await_none
    printf '== %s, %s: status %s, all processes ended after %d ms\n' "$mpi" "$1" "$status" \
        $((($(date +%s%N) - began) / 1000000))
    grep '^close:' "$output" || true
    # shellcheck disable=SC2254  # a pattern
    case $status in
    $2) ;;
    *) fail "$mpi, $1: expected status $2, got $status" ;;
    esac
    cases=$((cases + 1))
}

for mode in waiting stopped thread; do ends "$mode" 3; done
for mode in before during killed orphaned; do ends "$mode" '[1-9]*'; done
ends late 0
printf '%d passed, 0 failed\n' "$cases"
