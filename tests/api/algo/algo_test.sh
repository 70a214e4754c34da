#!/usr/bin/env bash
# algo_test.sh INCLUDE-DIR LIBRARY-DIR: compile the macros of <filch/algo.h> as C11 and C++17,
# without warnings, with each installed compiler.
set -euo pipefail
include=$1 library=$2
here=$(dirname -- "${BASH_SOURCE[0]}")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
runs=0

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

# try COMPILER LANGUAGE-FLAGS...
try() {
    local compiler=$1
    shift
    command -v "$compiler" >/dev/null || return 0
    "$compiler" "$@" -pedantic -Wall -Wextra -Wshadow -Wconversion -Wundef -Werror -I "$include" "$here/invoke.c" \
        -o "$work/program" -L "$library" "-Wl,-rpath,$library" -lfilch || fail "$compiler $* does not take it"
    "$work/program" || fail "built by $compiler $*, it ended with $?"
    runs=$((runs + 1))
}

for compiler in gcc clang; do
    try $compiler -x c -std=c11
    try $compiler -x c -std=c11 -O2
done
for compiler in g++ clang++; do
    try $compiler -x c++ -std=c++17
    try $compiler -x c++ -std=c++17 -O2
done
[ "$runs" -gt 0 ] || fail "no compiler was found"
printf '%d programs built and run\n' "$runs"
