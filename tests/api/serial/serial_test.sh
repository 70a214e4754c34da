#!/usr/bin/env bash
# serial_test.sh TREE COMPILER: programs with tasks and algorithms, compiled by gcc, clang, g++ or clang++ with
# -DFILCH_SERIAL, without warnings, at several levels of optimisation, and without the library.
set -euo pipefail
tree=$1 compiler=$2
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
language=(-x c -std=c11)
case $compiler in *++) language=(-x c++ -std=c++17) ;; esac
options=(-DFILCH_SERIAL -I "$tree/include" -pedantic -Wall -Wextra -Wshadow -Wconversion -Wundef -Werror)
runs=0

command -v "$compiler" >/dev/null || { printf 'skipped: there is no %s\n' "$compiler" && exit 77; }

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

# The program in the first comment of a header.
header_program() {
    awk '
        { sub(/^ \* ?/, "") }
        !indent && match($0, /^ +#include/) { indent = RLENGTH - 8 }
        indent { print substr($0, indent + 1) }
        indent && /^ *}$/ && in_main { if (substr($0, indent + 1) == "}") exit }
        indent && /int main\(/ { in_main = 1 }' "$tree/include/filch/$1.h"
}

# check OUTPUT SOURCE...: the program prints OUTPUT, whether its files are optimised or not.
check() {
    local expected=$1 level output
    shift
    for level in -O0 -O2; do
        "$compiler" "${language[@]}" "${options[@]}" "$level" "$@" -o "$work/program" -pthread ||
            fail "$* does not compile: $compiler $level"
        output=$("$work/program") || fail "$* exited with $?: $compiler $level"
        [ "$output" = "$expected" ] || fail "$* printed '$output', not '$expected': $compiler $level"
        runs=$((runs + 1))
    done
}

# check_header NAME OUTPUT
check_header() {
    header_program "$1" >"$work/$1.c"
    check "$2" "$work/$1.c"
}

# check_rejected MESSAGE SOURCE
check_rejected() {
    ! "$compiler" "${language[@]}" "${options[@]}" -O2 "$2" -o "$work/program" 2>"$work/log" || fail "$2 compiles"
    grep -q "$1" "$work/log" || fail "$2 does not compile, but $compiler does not say '$1'"
}

# Two files of one program, one of them checked.
check_split() {
    local programs=$tree/tests/api/task/programs
    "$compiler" "${language[@]}" "${options[@]}" -O0 -c "$programs/split_left.c" -o "$work/left.o"
    "$compiler" "${language[@]}" "${options[@]}" -O3 -c "$programs/split_right.c" -o "$work/right.o"
    "$compiler" "$work/left.o" "$work/right.o" -o "$work/program" || fail "the split program does not link"
    [ "$("$work/program")" = '2550 2500 42' ] || fail "the split program printed $("$work/program")"
}

check_header task 6765
check_header algo 998001
check_header job 81
check 75025 "$tree/tests/api/task/programs/api.c"
check 78 "$tree/tests/api/task/programs/names.c"
check 27060 "$tree/tests/api/task/programs/expressions.c"
check '' "$tree/tests/api/algo/invoke.c"
case $compiler in *++) check 7 "$tree/tests/api/task/programs/values.cpp" ;; esac
check_split
check_rejected 'task giant: more than 1024 bytes' "$tree/tests/api/task/programs/too_large.c"
check_rejected 'task broad: .* more than 16 bytes' "$tree/tests/api/task/programs/too_aligned.c"
check_rejected 'this function needs the library' "$here/fiber.c"
printf '%d programs built and run\n' "$runs"
