#!/usr/bin/env bash
# trace_test.sh PROGRAM CHECK SANITIZERS: FILCH_TRACE writes a complete trace, however the program ends.
set -euo pipefail
program=$1 check=$2 sanitizers=${3:-}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd -- "$work"
ulimit -c 0
export FILCH_TRACE=trace.json FILCH_WORKERS=2 FILE=none
export FILCH_WATCHDOG_MS=0 # on a busy machine it could report at any time

command -v python3 >/dev/null || { echo "skipped: python3 is not installed" && exit 77; }

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    ls -la >&2
    cat output >&2 || true
    exit 1
}

# run CASE: run a case of the program; remove the files of earlier cases first
run() {
    rm -f -- *.json output
    timeout 600 "$program" "$@" >output 2>&1
}

# files NAME...: exactly these files were written
files() {
    local found
    found=$(echo *.json*)
    [ "$found" = "$*" ] || fail "expected the files $*, got $found"
}

checked() { python3 "$check" "$@"; }

odd=$'ping "\\\x01\uFFFD\u00e4\uFFFD'
long='pong, whose name is much longer than anybody would want it to b'
for workers in 1 2 4; do
    FILCH_WORKERS=$workers run talk || fail "talk with $workers"
    files trace.json
    checked trace.json workers=$workers overwritten=no reason=stop slice=asleep slice=main slice="$odd" slice="$long" \
        slice='the job' row=main row="$long" slice='ping, renamed' \
        wait='waits for blocking' wait=sleeps wait='waits for join' wait=ready wait=runs slice=timers \
        from=timers to="$long"
    case $workers in
    1) checked trace.json from="$odd" to="$long" ;;
    *) checked trace.json instant='steals 1 from worker' ;;
    esac
done
[ ! -s output ] || fail "unexpected output"

# A thread that is not a worker wakes a fiber and runs a task on a borrowed worker.
run external || fail "external"
checked trace.json slice=fib reason=stop wait='waits for receive' from=wakes to=receiver

# More events than the rings can hold, down to the smallest ring.
for events in 16 64 1k; do
    FILCH_TRACE_EVENTS=$events run many || fail "many, $events"
    checked trace.json overwritten=yes workers=2 instant=""
done
FILCH_TRACE_EVENTS=1M run many || fail "many, 1M"
checked trace.json overwritten=no slice=yield_often row=yield_often

# Only the last events, written while the program runs: at a signal, a long run, a deadlock.
FILE=trace.signal.json FILCH_DUMP_SIGNAL=USR1 FILCH_TRACE_MS=5 run signalled || fail "signalled"
files trace.json trace.signal.json
checked trace.signal.json reason=signal max_us=5000
checked trace.json reason=stop max_us=5000
FILE=trace.signal.json FILCH_DUMP_SIGNAL=USR1 FILCH_TRACE_EVENTS=64 run signalled || fail "signalled, small"
checked trace.signal.json reason=signal
FILE=trace.long_run.json FILCH_WATCHDOG_MS=10 FILCH_TRACE_MS=1000 run long_run || fail "long run"
files trace.json trace.long_run.json
checked trace.long_run.json reason=long_run slice=long_runner
if [ -z "$sanitizers" ]; then # their own threads prevent the deadlock detection
    if (FILCH_DEADLOCK=abort run deadlock) 2>/dev/null; then fail "a deadlock exits with 0"; fi
    files trace.deadlock.json
    checked trace.deadlock.json reason=deadlock wait='waits for receive' row=lonely
fi

# exit() without filch_stop().
for how in exit_in_fiber exit_beside_fiber; do
    FILCH_STATS=1 run "$how" || fail "$how"
    checked trace.json reason=exit
    grep -Eq '^filch: counters of [0-9]+ workers?, ' output || fail "$how: no table of counters"
done
run exit_in_fiber || fail "exit in a fiber"
checked trace.json slice=main

# Several runtimes, several processes.
run twice || fail "twice"
files trace.2.json trace.json
checked trace.json slice=fib
checked trace.2.json slice=fib
if [ -z "$sanitizers" ]; then # in the child their locks may stay locked
    run forks || fail "forks"
    read -r child <output
    files "trace.$child.2.json" trace.json
    for file in *.json; do checked "$file" slice=fib; done
    FILE=trace.json run forks_and_exits || fail "a child that exits"
    files trace.json
fi
FILCH_TRACE=trace-%p-%%.json run external || fail "%p"
[[ $(echo *.json) =~ ^trace-[0-9]+-%\.json$ ]] || fail "%p: $(echo *.json)"

# Names without an extension, and files that are not regular.
FILCH_TRACE=out FILE=out.signal FILCH_DUMP_SIGNAL=USR1 run signalled || fail "no extension"
checked out.signal reason=signal
mkfifo pipe
cat pipe >piped &
exec 9>pipe # blocks until the FIFO has a reader
FILCH_TRACE=pipe run external || fail "FIFO"
exec 9>&-
wait $!
checked piped reason=stop
[ -p pipe ] || fail "the FIFO was replaced"
FILCH_TRACE=/dev/null run external || fail "/dev/null"
[ -c /dev/null ] || fail "/dev/null was replaced"
(FILCH_TRACE=/dev/stdout run twice) >output || fail "/dev/stdout"
# shellcheck disable=SC2154  # `output` is a file
[ -s output ] || fail "/dev/stdout: no output"
FILCH_TRACE=/dev/null FILE=/dev/null FILCH_DUMP_SIGNAL=USR1 run signalled || fail "/dev/null at a signal"
[ ! -e /dev/null.signal ] || fail "a file beside /dev/null"

# If the file cannot be written, the program continues after an error line.
FILCH_TRACE=nowhere/trace.json run external || fail "missing directory"
[ "$(cat output)" = "filch: FILCH_TRACE: cannot write $PWD/nowhere/trace.json: No such file or directory" ] || fail "missing directory"
FILCH_TRACE=/dev/full run external || fail "full device"
[ "$(cat output)" = "filch: FILCH_TRACE: cannot write /dev/full: No space left on device" ] || fail "full device"
FILCH_TRACE=$(printf 'x%.0s' {1..5000}) run external || fail "long name"
[[ $(cat output) = *"File name too long" ]] || fail "long name"

# Invalid settings are reported and ignored.
for setting in FILCH_TRACE_MS=soon FILCH_TRACE_EVENTS=1 FILCH_TRACE_EVENTS=-5; do
    # shellcheck disable=SC2163  # the value is NAME=VALUE
    (export "$setting" && run external) || fail "$setting ended the program"
    grep -q "^filch: ${setting%=*}: .* ('${setting#*=}')" output || fail "$setting"
done
