#!/usr/bin/env bash
# gdb_test.sh PROGRAM SCRIPT auto|ucontext: the commands for gdb show the fibers of a program that stands still, and of its
# core file.
set -euo pipefail
program=$1 script=$2 switch=$3
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

skip() {
    printf 'skipped: %s\n' "$1"
    exit 77
}

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    cat -- "$work/said" >&2
    exit 1
}

# in_gdb ARGUMENTS...: what it says is in the file said.
in_gdb() {
    gdb -nx -batch -iex 'set debuginfod enabled off' -iex 'set confirm off' "$@" >"$work/said" 2>&1 </dev/null || true
}

# shows HOW: the fibers, what they wait for, and the calls that led there.
shows() {
    local name
    for name in main left right; do
        grep -qE "^fiber '$name' 0x[0-9a-f]+ waits for join 0x[0-9a-f]+, function (main_fiber|go_round)$" "$work/said" ||
            fail "$1: the fiber $name is not listed"
    done
    [ "$switch" = auto ] || return 0
    [ "$(grep -cE '^#[0-9]+ .* in wait_for \(other=' "$work/said")" -eq 3 ] || fail "$1: not three calls of wait_for"
    [ "$(grep -cE '^#[0-9]+ .* in go_round \(' "$work/said")" -eq 2 ] || fail "$1: not two calls of go_round"
    [ "$(grep -cE '^#[0-9]+ .* in fi_ctx_start \(' "$work/said")" -eq 4 ] || fail "$1: not four ends of a stack"
    ! grep -qE 'corrupt|Backtrace stopped' "$work/said" || fail "$1: a backtrace does not end cleanly"
}

command -v gdb >/dev/null || skip "gdb is not installed"
in_gdb -ex 'python print("it has " + "Python")'
grep -q 'it has Python' "$work/said" || skip "this gdb has no Python"

in_gdb -ex "source $script" -ex 'filch fibers' "$program"
grep -q 'filch_layout_ not found\|Cannot access memory' "$work/said" ||
    fail "a program that does not run is not named as such"

in_gdb -ex run -ex "source $script" -ex 'filch bt all' -ex 'filch bt 1' -ex 'thread 1' -ex backtrace "$program"
! grep -qE 'ould not trace|ptrace: Operation not permitted|Cannot PTRACE' "$work/said" || skip "this process may not trace another"
shows "a program"
grep -q 'there is no fiber at 0x1' "$work/said" || fail "what is no fiber is not named as such"
grep -qE '^#[0-9]+ .* in filch_main ' "$work/said" || fail "a thread's own backtrace is not what it was"

# The kernel's own: where guards are part of a mapping (MADV_GUARD_INSTALL), gdb 13 writes zeros for all around them.
(cd -- "$work" && ulimit -c unlimited && exec "$program") >"$work/said" 2>&1 || true
core=$(find "$work" -name 'core*' | head -n 1)
[ -n "$core" ] || skip "the kernel writes no core file to where we are; the running program was as it should be"
in_gdb -ex "source $script" -ex 'filch fibers' -ex 'filch bt all' "$program" "$core"
shows "a core file"
grep -vE '^(\[|warning|Core was|Program terminated|Using host)' "$work/said" | head -n 12
