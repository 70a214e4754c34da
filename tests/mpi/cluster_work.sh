#!/usr/bin/env bash
# cluster_work.sh PROGRAM PLUGIN_DIR {openmpi|mpich}: run the cases of PROGRAM (cluster_work) with 1 to
# 4 ranks and different settings.
set -euo pipefail
program=$(readlink -f -- "$1")
export FILCH_MPI_PLUGIN_DIR=$2
mpi=$3
run=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/run
shared=$(mktemp)
trap 'rm -f -- "$shared"' EXIT
export FILCH_SEED=${FILCH_SEED:-$RANDOM}
printf 'FILCH_SEED=%s\n' "$FILCH_SEED"

# work RANKS SETTINGS CASE...: SETTINGS are words VARIABLE=VALUE.
work() {
    local n=$1 status=0 settings
    read -r -a settings <<<"$2"
    printf '== %s, %s ranks, %s: %s\n' "$mpi" "$n" "$2" "${*:3}"
    : >"$shared"
    env "${settings[@]}" "$run" "$mpi" "$n" "$program" "$shared" "${@:3}" || status=$?
    if [ "$status" -eq 77 ]; then exit 77; fi
    if [ "$status" -ne 0 ]; then
        printf 'FAILED: %s, %s ranks, %s: %s: status %s\n' "$mpi" "$n" "$2" "${*:3}" "$status" >&2
        exit 1
    fi
}

work 1 'FILCH_WORKERS=2 FILCH_CLUSTER_CHECK=1' reduce for large tree texts bags fiber together
work 2 'FILCH_WORKERS=1' reduce for large tree texts bags long fiber repeat
work 2 'FILCH_WORKERS=2 FILCH_CLUSTER_LOOT=4m FILCH_CLUSTER_IN_FLIGHT=64' crossing crossing waiting together
work 3 'FILCH_WORKERS=2 FILCH_CLUSTER_LOOT=1k FILCH_CLUSTER_CHECK=1' reduce for tree texts bags crossing long fiber
work 4 'FILCH_WORKERS=1 FILCH_CLUSTER_LOOT=4m FILCH_CLUSTER_IN_FLIGHT=16' reduce large tree texts bags crossing waiting
echo 'all passed'
