#!/usr/bin/env bash
# gdb_test.sh PROGRAM SCRIPT auto|ucontext: the gdb commands show the fibers of a stopped program and of its core file.
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
    cat -- "$work/output" >&2
    exit 1
}

# in_gdb ARGUMENTS...: run gdb; its output is in the file output.
in_gdb() {
    gdb -nx -batch -iex 'set debuginfod enabled off' -iex 'set confirm off' "$@" >"$work/output" 2>&1 </dev/null || true
}

# shows TARGET: the output has the fibers, what they wait for, and their backtraces.
shows() {
    local name
    for name in main left right; do
        grep -qE "^fiber '$name' 0x[0-9a-f]+ waits for join 0x[0-9a-f]+, function (main_fiber|go_round)$" "$work/output" ||
            fail "$1: the fiber $name is not listed"
    done
    [ "$switch" = auto ] || return 0
    [ "$(grep -cE '^#[0-9]+ .* in wait_for \(other=' "$work/output")" -eq 3 ] || fail "$1: expected three frames of wait_for"
    [ "$(grep -cE '^#[0-9]+ .* in go_round \(' "$work/output")" -eq 2 ] || fail "$1: expected two frames of go_round"
    [ "$(grep -cE '^#[0-9]+ .* in fi_ctx_start \(' "$work/output")" -eq 4 ] || fail "$1: expected four outermost frames"
    ! grep -qE 'corrupt|Backtrace stopped' "$work/output" || fail "$1: a backtrace does not end cleanly"
}

command -v gdb >/dev/null || skip "gdb is not installed"
in_gdb -ex 'python print("gdb has " + "Python")'
grep -q 'gdb has Python' "$work/output" || skip "this gdb has no Python"

in_gdb -ex "source $script" -ex 'filch fibers' "$program"
grep -q 'the program does not use Filch or is not running\|Cannot access memory' "$work/output" ||
    fail "no error message for a program that is not running"

# A name may contain anything, and memory may be damaged.
in_gdb -ex "source $script" -ex 'python print(printable(b"a\x1b[2J\xff\0rest"))' \
    -ex 'python read = lambda address, size: b"x" * size' -ex 'python print("<" + read_string(1) + ">")'
grep -q '^a?\[2J?$' "$work/output" || fail "a name with control characters"
grep -q '^<x\{64\}>$' "$work/output" || fail "a name without an end"

in_gdb -ex run -ex "source $script" -ex 'filch bt all' -ex 'filch bt 1' -ex 'thread 1' -ex backtrace "$program"
! grep -qE 'ould not trace|ptrace: Operation not permitted|Cannot PTRACE' "$work/output" || skip "ptrace is not permitted"
shows "a program"
grep -q 'no fiber at 0x1' "$work/output" || fail "no error message for an address that is not a fiber"
grep -qE '^#[0-9]+ .* in filch_main ' "$work/output" || fail "the thread's own backtrace has changed"

# Use a core file that the kernel writes.  gdb 13 writes zeros for a mapping that contains guard pages (MADV_GUARD_INSTALL).
(cd -- "$work" && ulimit -c unlimited && exec "$program") >"$work/output" 2>&1 || true
core=$(find "$work" -name 'core*' | head -n 1)
[ -n "$core" ] || skip "the kernel wrote no core file here; the checks of the running program passed"
in_gdb -ex "source $script" -ex 'filch fibers' -ex 'filch bt all' "$program" "$core"
shows "a core file"
grep -vE '^(\[|warning|Core was|Program terminated|Using host)' "$work/output" | head -n 12
