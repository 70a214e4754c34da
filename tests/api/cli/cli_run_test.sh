#!/usr/bin/env bash
# cli_run_test.sh FILCH WAITS: `filch run` and `filch trace` pass arguments, input, signals and exit status through, set
# the variables of the program, and print why a program cannot be run or wrote no trace.
set -euo pipefail
filch=$1 waits=$2
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"
unset FILCH_WORKERS FILCH_STATS FILCH_TRACE
: >"$work/not-runnable"

for command in run trace; do
    rejects "$command needs a program" $command
    rejects "$command needs a program" $command --
    rejects "--workers takes a number from 1 to 1024 (got '0')" $command --workers 0 -- true
    rejects "unknown option '--worcers'; did you mean '--workers'?" $command --worcers 2 -- true
    fails 127 $command -- "$work/nosuch"
    stderr_has "cannot run '$work/nosuch': No such file or directory"
    [[ $stderr != *'wrote no trace'* ]] || fail 'a program that was not found is reported twice'
    fails 126 $command -- "$work/not-runnable"
    stderr_has "cannot run '$work/not-runnable': Permission denied"
    fails 126 $command -- "$work"
    # shellcheck disable=SC2016  # $$ of the inner shell
    fails 143 $command -- sh -c 'kill -TERM $$'
    fails 77 $command -- sh -c 'exit 77'
    # shellcheck disable=SC2016  # variables of the inner shell
    stdout=$(echo from stdin | "$filch" $command --workers 3 -- sh -c 'cat; echo "$1:$FILCH_WORKERS"' sh 'a  b' 2>/dev/null) || true
    [ "$stdout" = $'from stdin\na  b:3' ] || fail "$command: input or arguments are lost"
done
rejects "--trace takes the name of a file (got '')" run --trace '' -- true
rejects "--output takes the name of a file (got '')" trace -o '' -- true
for command in 'run --trace' 'trace -o'; do
    # shellcheck disable=SC2086  # split into arguments
    for file in "$work" "$work/" "$work/nosuch/t.json" "$work/not-runnable/t.json"; do
        rejects "$file" $command "$file" -- true
    done
done

# The settings reach the program, which keeps the process id.
# shellcheck disable=SC2016  # variables of the inner shell
runs run --stats --trace t.json -- sh -c 'echo "$FILCH_STATS $FILCH_TRACE"'
[ "$stdout" = "1 $PWD/t.json" ] || fail 'the variables of run'
mkfifo "$work/input"
"$filch" run -w 2 --stats -- "$waits" <"$work/input" >"$work/output" 2>"$work/errors" &
pid=$!
exec 3>"$work/input"
await "$waits prints 'ready'" grep -q ready "$work/output"
[ "/proc/$pid/exe" -ef "$waits" ] || fail 'run does not replace itself by the program'
exec 3>&-
wait "$pid"
grep -q parks "$work/errors" || fail 'run --stats prints no counters'

# A trace is written and reported, also after the program has changed its directory.
cd "$work"
runs trace -o t.json -- sh -c 'cd / && exec "$@" </dev/null' sh "$waits"
stderr_has 'wrote t.json ('
stderr_has 'open it in https://ui.perfetto.dev'
[ -s t.json ] || fail 'the trace is missing'
runs trace -- "$waits" </dev/null
[ -s trace.json ] || fail 'the default name of a trace'
# An old file is not taken for the trace of this run.
fails 1 trace -o t.json -- true
stderr_has 'true wrote no trace: it does not use Filch'
fails 3 trace -o t.json -- sh -c 'exit 3'
stderr_has 'sh wrote no trace'
stderr_has 'or is set-uid, and ignores the variable'
# %p is the number of the process.  A directory may contain a percent sign.
runs trace -o t.%p.json -- "$waits" </dev/null
[[ $stderr =~ 'filch: wrote t.'([0-9]+)'.json (' ]] || fail 'the name of a trace with %p'
[ -s "t.${BASH_REMATCH[1]}.json" ] || fail 'the trace with %p is missing'
fails 1 trace -o t.%p.json -- true
mkdir 'a%p%%b'
cd 'a%p%%b'
runs trace -o 't%%.json' -- "$waits" </dev/null
stderr_has 'wrote t%.json ('
[ -s t%.json ] || fail 'a directory with a percent sign'
cd ..
# Whether a device or a FIFO took the trace is not known.
mkfifo fifo
for file in /dev/full fifo; do
    run trace -o "$file" -- "$waits" </dev/null
    stderr_has "$file is not a regular file"
    [[ $stderr != *"filch: wrote"* ]] || fail "$file is reported as written"
done

# A signal that is sent to filch alone reaches the program, also those of a terminal.
for signal in INT TERM USR1; do
    # shellcheck disable=SC2016  # $PPID is filch
    fails 9 trace -o t.json -- bash -c "trap 'exit 9' $signal"'; kill -'"$signal"' $PPID; while :; do sleep 0.02; done'
done
