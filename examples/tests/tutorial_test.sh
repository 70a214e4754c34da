#!/usr/bin/env bash
# tutorial_test.sh PAGE SOURCE [PROGRAM]: the step of SOURCE in the tutorial shows the whole file,
# of at most 40 lines, and the command that compiles it.  PROGRAM prints what the page says, with 1,
# 2 and 4 workers.
set -euo pipefail
page=$1 source=$2
# shellcheck source=examples/tests/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
name=$(basename -- "$source" .c)

# block LANGUAGE: the blocks of this language in the section "## N. ..." of the step.
block() {
    awk -v step="## ${name%%_*}. " -v fence="\`\`\`$1" '
        /^## / { inside = index($0, step) == 1 }
        /^```$/ { on = 0 }
        on { print }
        inside && $0 == fence { on = 1 }' "$page"
}

block c >"$work/code"
[ -s "$work/code" ] || fail "$page does not show $name.c"
same "$source" "$work/code" "$page shows another program than $name.c"
[ "$(wc -l <"$source")" -le 40 ] || fail "$name.c has more than 40 lines"
block console >"$work/console"
# shellcheck disable=SC2016
grep -qxF "\$ cc -O2 $name.c -o $name \$(pkg-config --cflags --libs filch)" "$work/console" ||
    fail "$page does not say how to compile $name.c"
[ $# -gt 2 ] || exit 0

grep -v '^\$ ' "$work/console" >"$work/expected" || fail "$page does not show the output of $name"
for workers in 1 2 4; do
    with "$workers" "$3" >"$work/got" || fail "$name exited with $? with $workers workers"
    same "$work/expected" "$work/got" "$name with $workers workers differs from $page"
done
