#!/usr/bin/env bash
# cluster_uts.sh PROGRAM PLUGIN_DIR {openmpi|mpich} [namespaces]: PROGRAM (uts-cluster) counts the
# published numbers of nodes of the trees T1 and T3, with 1 to 4 ranks, or with ranks on two nodes.
set -euo pipefail
program=$(readlink -f -- "$1")
export FILCH_MPI_PLUGIN_DIR=$2
mpi=$3
start=${4:-run}
numbers=(1 2 3 4)
if [ "$start" = namespaces ]; then numbers=(2 4); fi
start=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/$start

# count RANKS TREE NODES
count() {
    local line status=0
    line=$("$start" "$mpi" "$1" "$program" "$2") || status=$?
    printf '%s\n' "$line"
    line=${line##*$'\n'} # above it may be what the script says about the delay
    if [ "$status" -eq 77 ]; then exit 77; fi
    case $status:$line in
    0:*"\"ranks\":$1,"*"\"result\":$3,"*) ;;
    *)
        printf 'FAILED: %s, %s ranks, %s: status %s, expected %s nodes\n' "$mpi" "$1" "$2" "$status" "$3" >&2
        exit 1
        ;;
    esac
}

for ranks in "${numbers[@]}"; do
    count "$ranks" T1 4130071
    count "$ranks" T3 4112897
done
