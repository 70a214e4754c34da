#!/usr/bin/env bash
# cluster_test.sh PROGRAM PLUGIN_DIR {one|openmpi|mpich}: uts-cluster compares each result with a
# serial count.  Check that it does, with 1 process or with 1 to 4 ranks.
set -euo pipefail
program=$1
export FILCH_MPI_PLUGIN_DIR=$2
mpi=$3
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

if [ "$mpi" != one ] && ! [ -e "$FILCH_MPI_PLUGIN_DIR/filch-mpi-$mpi.so" ]; then
    printf 'skipped: filch-mpi-%s.so was not built\n' "$mpi"
    exit 77
fi

# run RANKS ARGS...
run() {
    if [ "$mpi" = one ]; then
        "$program" "${@:2}"
    else
        "$here/../../tests/mpi/run" "$mpi" "$1" "$program" "${@:2}"
    fi
}

# check RANKS NODES ARGS...: one line, with this number of ranks and nodes.
check() {
    local line status=0
    line=$(run "$1" "${@:3}") || status=$?
    if [ "$status" -eq 77 ]; then
        printf '%s\n' "$line"
        exit 77
    fi
    [ "$status" -eq 0 ] || fail "$mpi, $1 ranks, ${*:3}: status $status"
    case $line in
    *$'\n'*) fail "$mpi, $1 ranks, ${*:3}: more than one line: $line" ;;
    *'"ranks":'"$1,"*'"result":'"$2,"*) ;;
    *) fail "$mpi, $1 ranks, ${*:3}: $line" ;;
    esac
}

ranks=(1 2 3 4)
[ "$mpi" != one ] || ranks=(1)
for n in "${ranks[@]}"; do
    check "$n" 257042 --size 8 --repeat 3 T1
    check "$n" 6213 --size 20 --repeat 3 T3
    check "$n" 6213 --size 20 --pool T3
    check "$n" 16000 --size 6 --strings T1
done
