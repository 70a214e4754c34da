#!/usr/bin/env bash
# namespaces_test.sh PROGRAM PLUGIN_DIR {openmpi|mpich}: run PROGRAM (transport_test) on two nodes.
set -euo pipefail
program=$(readlink -f -- "$1")
export FILCH_MPI_PLUGIN_DIR=$2
mpi=$3
namespaces=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/namespaces
cases=0

# ranks N MODE: run PROGRAM with N ranks.
ranks() {
    local status=0
    printf '== %s, %s ranks on two nodes, %s\n' "$mpi" "$1" "$2"
    "$namespaces" "$mpi" "$1" "$program" "$2" || status=$?
    if [ "$status" -eq 77 ]; then exit 77; fi
    if [ "$status" -ne 0 ]; then
        printf 'FAILED: %s, %s ranks, %s: status %s\n' "$mpi" "$1" "$2" "$status" >&2
        exit 1
    fi
    cases=$((cases + 1))
}

ranks 2 nodes
ranks 4 nodes
ranks 2 measure
printf '%d passed, 0 failed\n' "$cases"
