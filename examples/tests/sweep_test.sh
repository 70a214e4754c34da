#!/usr/bin/env bash
# sweep_test.sh PROGRAM MPI PLUGIN_DIR: the table is complete, in order, and the same for every number
# of ranks and workers.  At r = 4, the exponent is ln 2.
set -euo pipefail
# shellcheck source=examples/tests/ranks.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/ranks.sh"

FILCH_WORKERS=1 "$program" >"$work/expected"
seq -f %.2f 3.50 0.01 4.00 >"$work/parameters"
tail -n +2 "$work/expected" | cut -d ' ' -f 1 >"$work/printed"
same "$work/parameters" "$work/printed" 'the parameters are not complete or not in order'
grep -qx '4.00     0.693  chaotic' "$work/expected" || fail 'the exponent at r = 4 is not ln 2'
grep -qx '3.83    -0.370  periodic' "$work/expected" || fail 'the orbit at r = 3.83 has period 3'
for count in "${counts[@]}"; do
    for workers in 1 3; do
        FILCH_WORKERS=$workers ranks "$count" >"$work/got"
        same "$work/expected" "$work/got" "$mpi, $count ranks of $workers workers: another table"
    done
done
