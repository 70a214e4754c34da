#!/usr/bin/env bash
# task_test.sh INCLUDE-DIR LIBRARY-DIR COMPILER: programs with tasks, as users write and build them, by one of
# gcc, clang, g++ and clang++, as C11 or C++17, without a warning, at several levels of optimisation.
# COMPILER is "split" for programs of two files that different compilers compile.
set -euo pipefail
include=$1 library=$2 what=$3
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/programs
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
failed=0 runs=0
warnings=(-pedantic -Wall -Wextra -Werror)
link=(-L "$library" "-Wl,-rpath,$library" -lfilch -pthread)
export FILCH_WORKERS

# All that is wrong is told, not only the first.
wrong() {
    printf 'FAILED: %s\n' "$1" >&2
    failed=1
}

there() { command -v "$1" >/dev/null; }

# object COMPILER STANDARD LEVEL SOURCE: compiles to $work/SOURCE.o, as the language of the standard.
object() {
    local language=c
    [ "$2" = c11 ] || language='c++'
    "$1" -x "$language" "-std=$2" "$3" "${warnings[@]}" -I "$include" -c "$here/$4" -o "$work/$4.o" 2>"$work/log" ||
        { head -n 5 "$work/log" >&2 && wrong "$4 does not compile: $1 -std=$2 $3" && return 1; }
}

# prints WHAT EXPECTED: $work/program must print that, with 1, 2, 4 and 8 workers.
prints() {
    local output
    for FILCH_WORKERS in 1 2 4 8; do
        output=$(timeout 600 "$work/program" 2>&1) || wrong "$1 ended with $?, $FILCH_WORKERS workers: $output"
        [ "$output" = "$2" ] || wrong "$1 printed '$output', not '$2', $FILCH_WORKERS workers"
        runs=$((runs + 1))
    done
}

# one SOURCE EXPECTED COMPILER STANDARD
one() {
    local level
    for level in -O0 -O2 -O3; do
        object "$3" "$4" $level "$1" || continue
        "$3" "$work/$1.o" -o "$work/program" "${link[@]}"
        prints "$1 by $3 -std=$4 $level" "$2"
    done
}

# two CC-LEFT STANDARD-LEFT LEVEL-LEFT CC-RIGHT STANDARD-RIGHT LEVEL-RIGHT
two() {
    object "$1" "$2" "$3" split_left.c || return 0
    object "$4" "$5" "$6" split_right.c || return 0
    "$4" "$work/split_left.c.o" "$work/split_right.c.o" -o "$work/program" "${link[@]}"
    prints "split over $1 $2 $3 and $4 $5 $6" '2550 2500 42'
}

# refused SOURCE WORDS COMPILER STANDARD: must not compile, and the compiler says why.
refused() {
    local language=c
    [ "$4" = c11 ] || language='c++'
    ! "$3" -x "$language" "-std=$4" -I "$include" -c "$here/$1" -o "$work/refused.o" 2>"$work/log" ||
        { wrong "$1 compiles: $3 -std=$4" && return 0; }
    grep -q "$2" "$work/log" || wrong "$1 does not compile, but $3 does not say '$2'"
}

# all COMPILER: every program, by one compiler.
all() {
    local standard=c11
    case $1 in *++) standard='c++17' ;; esac
    one api.c 75025 "$1" "$standard"
    one names.c 78 "$1" "$standard"
    one expressions.c 27060 "$1" "$standard"
    one thread_locals.c 7 "$1" "$standard"
    refused too_large.c 'task giant: more than 1024 bytes' "$1" "$standard"
    refused too_aligned.c 'task broad: .* more than 16 bytes' "$1" "$standard"
    [ "$standard" = c11 ] || one values.cpp 7 "$1" c++17
}

# split: each pair of compilers that are installed.
split() {
    local c=() cxx=() compiler left right
    for compiler in gcc clang; do if there $compiler; then c+=("$compiler"); fi; done
    for compiler in g++ clang++; do if there $compiler; then cxx+=("$compiler"); fi; done
    for left in "${c[@]}"; do
        two "$left" c11 -O2 "$left" c11 -O2
        two "$left" c11 -O0 "$left" c11 -O3 # checked, and not
        for right in "${cxx[@]}"; do
            two "$left" c11 -O2 "$right" c++17 -O2
        done
    done
    for right in "${cxx[@]}"; do
        two "$right" c++17 -O0 "$right" c++17 -O2
    done
}

if [ "$what" = split ]; then
    split
elif there "$what"; then
    all "$what"
else
    printf 'skipped: there is no %s\n' "$what"
    exit 77
fi
[ $runs -gt 0 ] || wrong "no compiler was found"
printf '%d runs\n' $runs
exit $failed
