#!/usr/bin/env bash
# search_test.sh PROGRAM: compare with grep -nF.
set -euo pipefail
program=$1
# shellcheck source=examples/tests/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
cd -- "$work"

for i in 1 2 3 4 5; do
    seq "$i" 7 2000 >"file$i"
done
grep -nF 12 file1 file2 file3 file4 file5 >expected
for workers in 1 2 4; do
    with $workers "$program" 12 file1 file2 file3 file4 file5 >got
    same expected got "with $workers workers the lines are not those of grep"
done
code=0
"$program" nowhere file1 file2 || code=$?
[ "$code" -eq 1 ] || fail "without a match it ended with $code, not 1"
refuses 2 "$program" 12 file1 missing file2
refuses 2 "$program"
