#!/usr/bin/env bash
# cluster_uts.sh PROGRAM PLUGIN_DIR {openmpi|mpich}: PROGRAM (uts-cluster) counts the published numbers
# of nodes of the trees T1 and T3, with 1 to 4 ranks.
set -euo pipefail
program=$(readlink -f -- "$1")
export FILCH_MPI_PLUGIN_DIR=$2
mpi=$3
run=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/run

# count RANKS TREE NODES
count() {
    local line status=0
    line=$("$run" "$mpi" "$1" "$program" "$2") || status=$?
    printf '%s\n' "$line"
    if [ "$status" -eq 77 ]; then exit 77; fi
    case $status:$line in
    0:*"\"ranks\":$1,"*"\"result\":$3,"*) ;;
    *)
        printf 'FAILED: %s, %s ranks, %s: status %s, expected %s nodes\n' "$mpi" "$1" "$2" "$status" "$3" >&2
        exit 1
        ;;
    esac
}

for ranks in 1 2 3 4; do
    count "$ranks" T1 4130071
    count "$ranks" T3 4112897
done
