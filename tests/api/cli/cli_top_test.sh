#!/usr/bin/env bash
# cli_top_test.sh FILCH WAITS: `filch top` shows the workers and fibers of a process, ends with it, and
# prints why it cannot show a process.
set -euo pipefail
filch=$1 waits=$2
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"

refuses "top takes a number from 1 to 2147483647 (got 'init')" top init
refuses "takes one process (got also '2')" top 1 2
refuses "--interval takes a number from 100 to 60000 (got '1')" top --interval 1 1
refuses "unknown option '--nonsense'" top --nonsense
runs top --help
says 'usage: filch top'
fails 1 top $$
complains 'not observable; start it with FILCH_TOP=1'
fails 1 top 2147483647
complains 'no such process'

# await WHAT COMMAND...: repeat the command until it succeeds, at most ten minutes.
await() {
    local what=$1 end=$((SECONDS + 600))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || fail "waited ten minutes: $what"
        sleep 0.02
    done
}

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
    [ "$(grep -Ec "$sleeping_worker" <<<"$said")" -eq 2 ]
}

# A process without FILCH_TOP=1 is not observable.
start FILCH_TOP=0
fails 1 top "$pid"
complains 'not observable'
stop

start FILCH_TOP=1
runs top
says "$pid"
await 'both workers sleep' is_idle
says '2 workers'
says 'fibers  0 running, 0 ready, 4 waiting: '
says '3 receive'
says '1 read'
says 'slowest waits'
says 'main                     read'
[ "$(printf '%s\n' "$said" | grep -c '^hungry  *receive  *0x')" -eq 3 ] || fail 'three hungry fibers'

# It ends when its output cannot be written.
code=0
timeout 600 "$filch" top -i 100 "$pid" >/dev/full 2>"$work/errors" || code=$?
complaint=$(cat "$work/errors")
[ "$code" -eq 1 ] || fail 'a full disk'
complains 'stdout: cannot write all output'

# Only one filch top shows a process at a time.
"$filch" top -i 100 "$pid" >"$work/other" 3>&- &
other=$!
await 'the other filch top prints' test -s "$work/other"
fails 1 top --once "$pid"
complains 'another filch top shows it already'
stop
wait "$other" || fail 'ends well with the process'
grep -q "process $pid ended or stopped its runtime" "$work/other"
fails 1 top --once "$pid"
complains 'no such process'

# The name of a program may contain bytes that control a terminal.  They are not printed.
ln -s "$waits" "$work/"$'x\xff\xc2\x9b\xc3\xa9'
waits=$work/$'x\xff\xc2\x9b\xc3\xa9'
start FILCH_TOP=1
runs top --once -i 100 "$pid"
says $'x???\xc3\xa9 ('
stop
