#!/usr/bin/env bash
# rules_test.sh TREE: man/filch-rules.7 is made from docs/rules.md, and each code block of the rules
# compiles, as C11 and as C++17, with each installed compiler.  Each rule has a wrong and a right block.
set -euo pipefail
tree=$1
command -v python3 >/dev/null || { printf 'skipped: python3 is not installed\n' && exit 77; }
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
compiled=0

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

# compile FILE COMPILER LANGUAGE-FLAGS...
compile() {
    local file=$1 compiler=$2
    shift 2
    command -v "$compiler" >/dev/null || return 0
    "$compiler" "$@" -fsyntax-only -pedantic -Wall -Wextra -Werror -I "$tree/include" "$file" ||
        fail "$(basename -- "$file") does not compile with $compiler $*"
    compiled=$((compiled + 1))
}

"$tree/tools/rules" "$tree" || fail "tools/rules finds a difference"
"$tree/tools/rules" --code "$work" "$tree"
rules=$(grep -c '^## ' "$tree/docs/rules.md")
for ((i = 1; i <= rules; i++)); do
    for block in wrong right; do
        file=$work/$(printf '%02d' "$i")-$block.c
        [ -s "$file" ] || fail "rule $i has no $block code"
        for compiler in gcc clang; do compile "$file" $compiler -x c -std=gnu11; done
        for compiler in g++ clang++; do compile "$file" $compiler -x c++ -std=c++17; done
    done
done
[ "$compiled" -gt 0 ] || fail "no compiler is installed"
printf '%d rules, %d blocks compiled\n' "$rules" "$compiled"
