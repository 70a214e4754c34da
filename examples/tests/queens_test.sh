#!/usr/bin/env bash
# queens_test.sh PROGRAM MPI PLUGIN_DIR: compare with the known numbers of solutions.
set -euo pipefail
# shellcheck source=examples/tests/ranks.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/ranks.sh"

known=(- 1 0 0 2 10 4 40 92 352 724 2680 14200)
largest=$((${FILCH_TEST_SCALE:-1} > 1 ? 9 : 12))
for count in "${counts[@]}"; do
    for n in 1 3 8 "$largest"; do
        got=$(ranks "$count" "$n")
        [ "$got" = "$n queens: ${known[n]}" ] || fail "$n queens, $mpi, $count ranks: $got"
    done
    # Boards have no pointers, so they also work as bytes.
    got=$(FILCH_WORKERS=4 FILCH_CLUSTER_CHECK=1 ranks "$count" 8)
    [ "$got" = '8 queens: 92' ] || fail "8 queens, FILCH_CLUSTER_CHECK=1, $mpi, $count ranks: $got"
done
