#!/bin/sh
# gdb_backtrace.sh PROGRAM native|cross auto|ucontext
# A backtrace from inside a context must show its callers and end at its first frame.
set -u
skip() { echo "skipped: $1"; exit 77; }
fail() { echo "FAILED: $1"; echo "$trace"; exit 1; }

[ "$2" = native ] || skip "the program is for another processor"
command -v gdb >/dev/null 2>&1 || skip "gdb is not installed"

# LeakSanitizer cannot work under a debugger.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
trace=$(gdb -nx -batch -iex 'set debuginfod enabled off' -ex 'set disable-randomization off' \
    -ex 'break probe_here' -ex run -ex backtrace -ex continue -ex up -ex backtrace "$1" 2>&1)
case $trace in
    *"ould not trace"*|*"ptrace: Operation not permitted"*|*"Cannot PTRACE"*) skip "ptrace is not permitted" ;;
esac

frames=$(echo "$trace" | grep '^#')
[ -n "$frames" ] || fail "no backtrace"
case $trace in
    *corrupt*|*"Backtrace stopped"*|*"Cannot access memory"*) fail "the backtrace does not end cleanly" ;;
esac
for name in probe_here probe_middle probe_entry; do
    echo "$frames" | grep -q "$name" || fail "no frame of $name"
done

# The outermost frame is of Filch.  With ucontext, nameless frames of the C library may follow.
first=fi_ctx_start
if [ "$3" = ucontext ]; then
    first='start '
    frames=$(echo "$frames" | grep -v -e 'in ?? ()' -e __start_context)
fi
last=$(echo "$frames" | tail -n 1)
echo "$last" | grep -q " in $first" || fail "the last frame is not the first of the context: $last"
echo "$frames" | grep -q ' main ' && fail "the backtrace runs into another stack"
echo "$frames"
