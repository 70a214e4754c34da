#!/usr/bin/env bash
# job_test.sh INCLUDE-DIR LIBRARY-DIR: programs with groups, jobs and algorithms, built with every installed compiler as C11 and
# C++17 without warnings.  Some of them exit while jobs run.
set -euo pipefail
include=$1 library=$2
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/programs
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
failed=0 runs=0
export FILCH_WORKERS

# Report all failures, not only the first.
wrong() {
    printf 'FAILED: %s\n' "$1" >&2
    failed=1
}

# prints WHAT EXPECTED: $work/program must print EXPECTED, with 1, 2 and 4 workers.
prints() {
    local output
    for FILCH_WORKERS in 1 2 4; do
        output=$(timeout 600 "$work/program" 2>&1) || wrong "$1 ended with $?, $FILCH_WORKERS workers: $output"
        [ "$output" = "$2" ] || wrong "$1 printed '$output', not '$2', $FILCH_WORKERS workers"
        runs=$((runs + 1))
    done
}

# one SOURCE EXPECTED COMPILER LANGUAGE STANDARD
one() {
    command -v "$3" >/dev/null || return 0
    if "$3" -x "$4" "-std=$5" -O2 -pedantic -Wall -Wextra -Werror -I "$include" "$here/$1" -o "$work/program" \
        -L "$library" "-Wl,-rpath,$library" -lfilch -pthread 2>"$work/log"; then
        prints "$1 by $3 -std=$5" "$2"
    else
        head -n 5 "$work/log" >&2
        wrong "$1 does not compile: $3 -std=$5"
    fi
}

# all SOURCE EXPECTED
all() {
    one "$1" "$2" gcc c c11
    one "$1" "$2" clang c c11
    one "$1" "$2" g++ c++ c++17
    one "$1" "$2" clang++ c++ c++17
}

all contract.c $'10 of 10\nload parse render\n4950 4950'
all frames.c $'100 frames, 100 drawn here'
all leaves.c 'left'
all echo.c $'hello\nhello\nend'

[ "$runs" -ge 9 ] || wrong 'there is no compiler'
[ "$failed" -eq 0 ] && printf '%d runs\n' "$runs"
exit "$failed"
