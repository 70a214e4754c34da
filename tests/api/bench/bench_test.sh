#!/usr/bin/env bash
# bench_test.sh CTX_BENCH STACK_BENCH DEQUE_STATS STARTUP_BENCH ALGO_BENCH: help and usage errors of the programs under bench/.
# No measurement runs.
set -euo pipefail
ctx_bench=$1 stack_bench=$2 deque_stats=$3 startup_bench=$4 algo_bench=$5

fail() {
    printf 'FAILED: %s: exit %d\nstdout: %s\nstderr: %s\n' "$1" "$code" "$stdout" "$stderr" >&2
    exit 1
}

# run PROGRAM ARGS...: set $stdout, $stderr and $code (exit status).
run() {
    local errors
    errors=$(mktemp)
    code=0
    stdout=$("$@" 2>"$errors") || code=$?
    stderr=$(cat -- "$errors")
    rm -f -- "$errors"
}

# rejects ARG PROGRAM ARGS...: expect exit status 2, one line on stderr that names ARG, and no output.
rejects() {
    local word=$1
    shift
    run "$@"
    [ "$code" -eq 2 ] || fail "$*"
    [ -z "$stdout" ] || fail "$* prints to stdout before the usage error"
    [ "$(printf '%s\n' "$stderr" | wc -l)" -eq 1 ] || fail "$* does not print one line to stderr"
    case $stderr in
    "${1##*/}: "*"\"$word\""*) ;;
    *) fail "$* does not name \"$word\"" ;;
    esac
}

for program in "$ctx_bench" "$stack_bench" "$deque_stats" "$startup_bench" "$algo_bench"; do
    run "$program" --help
    [ "$code" -eq 0 ] || fail "$program --help"
    [ -z "$stderr" ] || fail "$program --help prints to stderr"
    case $stdout in
    "usage: ${program##*/}"*) ;;
    *) fail "$program --help prints no usage" ;;
    esac
    rejects --frobnicate "$program" --frobnicate
    rejects -5 "$program" -5
    rejects '' "$program" ''
done

for word in 12junk 0 1001 99999999999999999999 ' 5' +5 0x10; do
    rejects "$word" "$ctx_bench" "$word"
    rejects "$word" "$ctx_bench" --json "$word"
done
rejects 6 "$ctx_bench" 5 6
rejects 6 "$ctx_bench" 5 --json 6

for word in 12junk 0 100000001 99999999999999999999 ' 5' +5; do
    rejects "$word" "$stack_bench" "$word"
    rejects "$word" "$stack_bench" 10 "$word"
done
rejects 8193 "$stack_bench" 10 8193
rejects 4096 "$stack_bench" --json 10 4096
rejects 7 "$stack_bench" 10 65536 7

rejects junk "$deque_stats" junk
printf 'the programs report usage errors\n'
