#!/usr/bin/env bash
# scheduler_test.sh PROGRAM: compare with the known numbers of solutions.
set -euo pipefail
program=$1
# shellcheck source=examples/tests/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

known=(- 1 0 0 2 10 4 40 92 352 724 2680 14200)
scale=${FILCH_TEST_SCALE:-1}
for workers in 1 2 3 8; do
    for n in 1 3 4 8 $((scale > 1 ? 9 : 12)); do
        got=$("$program" "$n" "$workers")
        [ "$got" = "${known[n]}" ] || fail "$n queens with $workers workers: $got, not ${known[n]}"
    done
done
# Workers start, steal and stop again and again.
for ((round = 0; round < 50 / scale; round++)); do
    got=$("$program" 9 4)
    [ "$got" = 352 ] || fail "9 queens in round $round: $got, not 352"
done
[ "$("$program")" = 92 ] || fail "8 queens by default"
refuses 2 "$program" 8 0
refuses 2 "$program" 8 65
refuses 2 "$program" x
refuses 2 "$program" 17
