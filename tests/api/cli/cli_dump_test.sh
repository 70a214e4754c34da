#!/usr/bin/env bash
# cli_dump_test.sh FILCH WAITS WAITS-STATIC OTHER-VERSION: `filch dump` lists the fibers of a process with backtraces, also
# if the program is linked with the static library and stripped, and prints why it cannot read a process.
set -euo pipefail
filch=$1 waits=$2 waits_static=$3 other_version=$4
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"

rejects 'dump needs a process' dump
rejects "dump takes a number from 1 to 2147483647 (got 'init')" dump init
rejects "takes one process (got also '2')" dump 1 2
fails 1 dump 2147483647
stderr_has 'process 2147483647: no such process'

mkfifo "$work/input"
start
skip_without_rights
fails 1 dump $$
stderr_has 'it does not use Filch'

# All fibers of the program have parked, and fibers that are alike are one group.
has_parked() {
    runs dump "$pid"
    [[ $stdout = *"3 fibers like this: fiber 'hungry' 0x"*' wait for receive 0x'* && $stdout = *"fiber 'main' 0x"*' waits for read'* ]]
}
has_backtraces() {
    [[ $stderr != *'no backtraces: filch was built without libdw'* ]]
}
await 'all fibers are listed' has_parked
stdout_has 'filch: 4 fibers, 2 workers, epoll'
# A descriptor is a decimal number.
[[ $stdout =~ ' waits for read '[0-9]+', for ' ]] || fail 'the descriptor of a read'
if has_backtraces; then
    stdout_has 'function wait_hungry+0 (waits)'
    stdout_has 'at wait_hungry+0x'
    stdout_has 'at filch_read'
    stdout_has 'at wait_for_input+0x'
    [[ $stdout != *' fi_'* ]] || fail 'a private function of Filch is listed'
fi
# The process is not stopped, and can be read while it is.
grep -q 'State:.*[SR]' "/proc/$pid/status" || fail 'the process was stopped'
kill -STOP "$pid"
runs dump "$pid"
stdout_has "3 fibers like this: fiber 'hungry'"
kill -CONT "$pid"
code=0
stderr=$("$filch" dump "$pid" 2>&1 >/dev/full) || code=$?
[ "$code" -eq 1 ] || fail 'a full disk'
stop

# Frames of a static library are not those of the program, and some have any name.
if has_backtraces; then
    waits_shared=$waits waits=$waits_static
    start
    await 'all fibers of a static program are listed' has_parked
    frames=$(grep '^    at ' <<<"$stdout" | grep -v 'at filch_\|at wait_') || true
    [ -z "$frames" ] || fail "private functions of a static library are listed: $frames"
    stdout_has 'at wait_hungry+0x'
    stdout_has 'at wait_for_input+0x'
    stop
    waits=$waits_shared
fi

# Without symbols: the ELF note leads to the runtime, and unwind tables to the callers.
if command -v strip >/dev/null; then
    strip -o "$work/stripped" "$waits_static"
    waits=$work/stripped
    start
    await 'all fibers of a stripped program are listed' has_parked
    ! has_backtraces || stdout_has 'at stripped+0x'
    # The program was replaced, as by an update.
    rm "$work/stripped"
    runs dump "$pid"
    ! has_backtraces || [[ $stdout =~ 'at stripped'[^+]*'+0x' ]] || fail 'no backtrace of a deleted program'
    stop
else
    echo 'a stripped program is not tested: strip is not installed'
fi

# A process that uses Filch through a library of another version.
waits=$other_version
start
for command in dump top; do
    fails 1 $command "$pid"
    stderr_has 'it uses another version of Filch than this command'
done
stop
