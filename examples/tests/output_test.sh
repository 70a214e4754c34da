#!/usr/bin/env bash
# output_test.sh SOURCE PROGRAM: the opening comment of SOURCE shows a run, "$ ./NAME" and the
# output.  The program prints the same with 1, 2 and 4 workers.
set -euo pipefail
source=$1 program=$2
# shellcheck source=examples/tests/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

awk '/^ \*     \$ / { on = 1; next }
    on && sub(/^ \*     /, "") { last = sub(/ \*\/$/, ""); print }
    last || /\*\// { exit }' "$source" >"$work/expected"
[ -s "$work/expected" ] || fail "the comment of $source shows no output"
for workers in 1 2 4; do
    with "$workers" "$program" >"$work/got" || fail "$program exited with $? with $workers workers"
    same "$work/expected" "$work/got" "$program with $workers workers differs from its comment"
done
