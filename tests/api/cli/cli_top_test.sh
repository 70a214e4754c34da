#!/usr/bin/env bash
# cli_top_test.sh FILCH WAITS: `filch top` sees the workers and fibers of a process, ends with it, and says clearly why
# it cannot.
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

# start VARIABLE=VALUE...: the program, until `stop`.
mkfifo "$work/input"
start() {
    env FILCH_WORKERS=2 "$@" "$waits" <"$work/input" >"$work/output" &
    pid=$!
    exec 3>"$work/input"
    until grep -q ready "$work/output"; do sleep 0.02; done
}
stop() {
    exec 3>&-
    wait "$pid"
}

# Who did not ask for it is not shown.
start FILCH_TOP=0
fails 1 top "$pid"
complains 'not observable'
stop

start FILCH_TOP=1
runs top
says "$pid"
runs top --once -i 100 "$pid"
says '2 workers'
says 'fibers  0 running, 0 ready, 4 waiting: '
says '3 receive'
says '1 read'
says 'slowest waits'
says 'main                     read'
for worker in 0 1; do
    printf '%s\n' "$said" | grep -Eq "^$worker +asleep +0% +0% +100% +0 +0 +0 +0 +0 +0 +0 +0" || fail "worker $worker sleeps"
done
[ "$(printf '%s\n' "$said" | grep -c '^hungry  *receive  *0x')" -eq 3 ] || fail 'three hungry fibers'

# What cannot be printed is no picture, and nobody waits for the next.
code=0
timeout 600 "$filch" top -i 100 "$pid" >/dev/full 2>"$work/errors" || code=$?
complaint=$(cat "$work/errors")
[ "$code" -eq 1 ] || fail 'a full disk'
complains 'stdout: cannot write all output'

# One at a time.
"$filch" top -i 100 "$pid" >"$work/other" 3>&- &
other=$!
until [ -s "$work/other" ]; do sleep 0.02; done
fails 1 top --once "$pid"
complains 'another filch top shows it already'
stop
wait "$other" || fail 'ends well with the process'
grep -q "process $pid ended or stopped its runtime" "$work/other"
fails 1 top --once "$pid"
complains 'no such process'

# A program may be called anything; a terminal is told none of it that it would obey.
ln -s "$waits" "$work/"$'x\xff\xc2\x9b\xc3\xa9'
waits=$work/$'x\xff\xc2\x9b\xc3\xa9'
start FILCH_TOP=1
runs top --once -i 100 "$pid"
says $'x???\xc3\xa9 ('
stop
