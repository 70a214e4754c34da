#!/usr/bin/env bash
# particles_test.sh PROGRAM: same output for every number of workers; energy is conserved.
set -euo pipefail
program=$1
# shellcheck source=examples/tests/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
cd -- "$work"

with 1 "$program" -n 3000 -f 40 >expected
for workers in 2 4 8; do
    with "$workers" "$program" -n 3000 -f 40 >got
    same expected got "with $workers workers the frames differ"
done
[ "$(grep -c '^$' expected)" -eq 40 ] || fail "the number of frames is not 40"
[ "$(wc -l <expected)" -eq 1001 ] || fail "a frame does not have 24 lines"
grep -q '^[ .o]*o[ .o]*$' expected || fail "the frames are empty"

"$program" -q -n 3000 -f 200 >said
[ "$(wc -l <said)" -eq 1 ] || fail "-q prints more than one line"
awk '{ lost = 1 - $4 / $6; exit !($1 == 3000 && lost < 0.01 && lost > -0.01) }' FS='[ ,]+' said ||
    fail "energy went or came: $(cat said)"
"$program" -q -n 100 -f 1 >said

refuses 2 "$program" -n 99
refuses 2 "$program" -n 1000001
refuses 2 "$program" -f 0
refuses 2 "$program" -f -1
refuses 2 "$program" -x
refuses 2 "$program" word
"$program" -h | grep -q usage || fail "-h does not help"
