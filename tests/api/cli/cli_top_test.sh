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
fails 1 top 2147483647
stderr_has 'no such process'

mkfifo "$work/input"
start
skip_without_rights
fails 1 top $$
stderr_has 'it does not use Filch'

# Both workers have slept for the whole interval.  Before, they show the start of the program.
sleeping_worker='^[01] +asleep +0% +0% +100%( +0){8}'
is_idle() {
    runs top --once -i 100 "$pid"
    [ "$(grep -Ec "$sleeping_worker" <<<"$stdout")" -eq 2 ]
}

# The process has no setting for this.
runs top
stdout_has "$pid"
await 'both workers sleep' is_idle
stdout_has '2 workers'
stdout_has 'fibers  0 running, 0 ready, 4 waiting: '
stdout_has '3 receive'
stdout_has '1 read'
stdout_has 'longest waits'
[[ $stdout =~ 'main                     read             '[0-9]+' ' ]] || fail 'the descriptor of a read'
[ "$(printf '%s\n' "$stdout" | grep -c '^hungry  *receive  *0x')" -eq 3 ] || fail 'three hungry fibers'

# A suspended process is shown, too.
kill -STOP "$pid"
runs top --once -i 100 "$pid"
stdout_has '4 waiting'
kill -CONT "$pid"

# A line of a pipe is not cut, and a reader that ends early ends it without a message.
"$filch" top -n 3 -i 100 "$pid" 2>"$work/errors" | head -1 >/dev/null || true
[ ! -s "$work/errors" ] || fail "a closed pipe is reported: $(cat "$work/errors")"

# A stop or the end by a key of the terminal leaves the normal screen.
if command -v python3 >/dev/null; then
    python3 - "$filch" "$pid" <<'END' || fail 'signals of a terminal'
import os, pty, signal, sys, time

LEAVE, ENTER = b"\033[?25h\033[?1049l", b"\033[?1049h\033[?25l"
output = b""


def expect(text):
    global output
    end = time.monotonic() + 60
    while text not in output:
        assert time.monotonic() < end, output
        output += os.read(terminal, 4096)
    output = output.partition(text)[2]


top, terminal = pty.fork()
if top == 0:
    os.execv(sys.argv[1], [sys.argv[1], "top", "-i", "100", sys.argv[2]])
expect(b"longest waits")
os.kill(top, signal.SIGTSTP)
expect(LEAVE)
# A process group without a parent in its session is not stopped.
os.kill(top, signal.SIGCONT)
expect(ENTER)
expect(b"longest waits")
os.kill(top, signal.SIGQUIT)
expect(LEAVE)
_, status = os.waitpid(top, 0)
assert status == 0, status
END
fi

# It ends when its output cannot be written.
code=0
timeout 600 "$filch" top -i 100 "$pid" >/dev/full 2>"$work/errors" || code=$?
stderr=$(cat "$work/errors")
[ "$code" -eq 1 ] || fail 'a full disk'
stderr_has 'stdout: cannot write all output'

# Two at a time show a process, and end with it.
"$filch" top -i 100 "$pid" >"$work/other" 3>&- &
other=$!
await 'the other filch top prints' test -s "$work/other"
runs top --once -i 100 "$pid"
stdout_has '4 waiting'
stop
wait "$other" || fail 'ends well with the process'
grep -q "process $pid ended or stopped its runtime" "$work/other"
fails 1 top --once "$pid"
stderr_has 'no such process'

# The name of a program may contain bytes that control a terminal.  They are not printed.
ln -s "$waits" "$work/"$'x\xff\xc2\x9b\xc3\xa9'
waits=$work/$'x\xff\xc2\x9b\xc3\xa9'
start
runs top --once -i 100 "$pid"
stdout_has $'x???\xc3\xa9 ('
runs top
stdout_has "$pid  "$'x???\xc3\xa9'
stop
