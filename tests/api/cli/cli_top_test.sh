#!/usr/bin/env bash
# cli_top_test.sh FILCH WAITS: `filch top` shows the workers and fibers of a process, ends with it, and
# prints why it cannot show a process.
set -euo pipefail
filch=$1 waits=$2
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"

rejects "top takes a number from 1 to 2147483647 (got 'init')" top init
rejects "takes one process (got also '2')" top 1 2
rejects "--interval takes a number from 100 to 60000 (got '1')" top --interval 1 1
rejects "unknown option '--nonsense'" top --nonsense
runs top --help
stdout_has 'usage: filch top'
fails 1 top $$
stderr_has 'not observable; start it with FILCH_TOP=1'
fails 1 top 2147483647
stderr_has 'no such process'

is_ready() {
    kill -0 "$pid" 2>/dev/null || fail "$waits does not start or ends early"
    grep -q ready "$work/output"
}

# start VARIABLE=VALUE...: run the program until `stop`.  The output of the previous one is removed
# here: the background process may empty the file only after is_ready has read it.
mkfifo "$work/input"
start() {
    : >"$work/output"
    env FILCH_WORKERS=2 "$@" "$waits" <"$work/input" >"$work/output" &
    pid=$!
    exec 3>"$work/input"
    await "$waits prints 'ready'" is_ready
}
stop() {
    exec 3>&-
    wait "$pid"
}

# Both workers have slept for the whole interval.  Before, they show the start of the program.
sleeping_worker='^[01] +asleep +0% +0% +100%( +0){8}'
is_idle() {
    runs top --once -i 100 "$pid"
    [ "$(grep -Ec "$sleeping_worker" <<<"$stdout")" -eq 2 ]
}

# A process without FILCH_TOP=1 is not observable.
start FILCH_TOP=0
fails 1 top "$pid"
stderr_has 'not observable'
stop

start FILCH_TOP=1
runs top
stdout_has "$pid"
await 'both workers sleep' is_idle
stdout_has '2 workers'
stdout_has 'fibers  0 running, 0 ready, 4 waiting: '
stdout_has '3 receive'
stdout_has '1 read'
stdout_has 'slowest waits'
stdout_has 'main                     read'
[ "$(printf '%s\n' "$stdout" | grep -c '^hungry  *receive  *0x')" -eq 3 ] || fail 'three hungry fibers'

# It ends when its output cannot be written.
code=0
timeout 600 "$filch" top -i 100 "$pid" >/dev/full 2>"$work/errors" || code=$?
stderr=$(cat "$work/errors")
[ "$code" -eq 1 ] || fail 'a full disk'
stderr_has 'stdout: cannot write all output'

# Only one filch top shows a process at a time.
"$filch" top -i 100 "$pid" >"$work/other" 3>&- &
other=$!
await 'the other filch top prints' test -s "$work/other"
fails 1 top --once "$pid"
stderr_has 'another filch top shows it already'
stop
wait "$other" || fail 'ends well with the process'
grep -q "process $pid ended or stopped its runtime" "$work/other"
fails 1 top --once "$pid"
stderr_has 'no such process'

# The name of a program may contain bytes that control a terminal.  They are not printed.
ln -s "$waits" "$work/"$'x\xff\xc2\x9b\xc3\xa9'
waits=$work/$'x\xff\xc2\x9b\xc3\xa9'
start FILCH_TOP=1
runs top --once -i 100 "$pid"
stdout_has $'x???\xc3\xa9 ('
stop
