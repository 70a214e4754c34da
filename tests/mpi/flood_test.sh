#!/usr/bin/env bash
# flood_test.sh PROGRAM PLUGIN_DIR {openmpi|mpich}: run PROGRAM (flood_test) in each of its modes.
set -euo pipefail
program=$(readlink -f -- "$1")
export FILCH_MPI_PLUGIN_DIR=$2
mpi=$3
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
cases=0

# floods LAUNCHER N MODE...: run PROGRAM with N ranks.
floods() {
    local launcher=$1 n=$2 status=0
    shift 2
    printf '== %s, %s, %s ranks, %s\n' "$launcher" "$mpi" "$n" "$*"
    "$here/$launcher" "$mpi" "$n" "$program" "$@" || status=$?
    # Machines without namespaces skip only what needs them.
    if [ "$status" -eq 77 ]; then
        if [ "$launcher" = namespaces ]; then return; else exit 77; fi
    fi
    if [ "$status" -ne 0 ]; then
        printf 'FAILED: %s, %s, %s ranks, %s: status %s\n' "$launcher" "$mpi" "$n" "$*" "$status" >&2
        exit 1
    fi
    cases=$((cases + 1))
}

for n in 2 4; do floods run "$n" many; done
floods run 2 large
for size in 0 5000 1048576; do floods run 2 stopped "$size"; done
floods namespaces 4 many
floods namespaces 2 large
printf '%d passed, 0 failed\n' "$cases"
