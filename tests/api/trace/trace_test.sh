#!/usr/bin/env bash
# trace_test.sh PROGRAM CHECK SANITIZERS: FILCH_TRACE writes what a program did, whatever happens to it.
set -euo pipefail
program=$1 check=$2 sanitizers=${3:-}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd -- "$work"
ulimit -c 0
export FILCH_TRACE=trace.json FILCH_WORKERS=2 FILE=none
export FILCH_WATCHDOG_MS=0 # on a busy machine it has something to say at any time

command -v python3 >/dev/null || { echo "skipped: there is no python3" && exit 77; }

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    ls -la >&2
    cat said >&2 || true
    exit 1
}

# run WHAT...: with the environment as it is; all else there was is gone
run() {
    rm -f -- *.json said
    timeout 600 "$program" "$@" >said 2>&1
}

# files NAME...: these and no others were written
files() {
    local there
    there=$(echo *.json*)
    [ "$there" = "$*" ] || fail "there are $there, not $*"
}

checked() { python3 "$check" "$@"; }

odd=$'ping "\\\x01\uFFFD\u00e4\uFFFD'
long='pong, whose name is much longer than anybody would want it to b'
for workers in 1 2 4; do
    FILCH_WORKERS=$workers run talk || fail "talk with $workers"
    files trace.json
    checked trace.json workers=$workers lost=no why=stop slice=asleep slice=main slice="$odd" slice="$long" \
        slice='the job' row=main row="$long" slice='ping, renamed' \
        wait='waits for blocking' wait=sleeps wait='waits for join' wait=ready wait=runs slice=timers \
        from=timers to="$long"
    case $workers in
    1) checked trace.json from="$odd" to="$long" ;;
    *) checked trace.json instant='steals 1 from worker' ;;
    esac
done
[ ! -s said ] || fail "something was said"

# From a thread that is no worker: it wakes, and it is a guest.
run outside || fail "outside"
checked trace.json slice=fib why=stop wait='waits for receive' from=wakes to=receiver

# More than there is room for, down to the least.
for events in 16 64 1k; do
    FILCH_TRACE_EVENTS=$events run many || fail "many, $events"
    checked trace.json lost=yes workers=2 instant=""
done
FILCH_TRACE_EVENTS=1M run many || fail "many, 1M"
checked trace.json lost=no slice=yield_often row=yield_often

# Only the last, and while it runs: at a signal, when a worker is held, at a deadlock.
FILE=trace.signal.json FILCH_DUMP_SIGNAL=USR1 FILCH_TRACE_MS=5 run signalled || fail "signalled"
files trace.json trace.signal.json
checked trace.signal.json why=signal most_us=5000
checked trace.json why=stop most_us=5000
FILE=trace.signal.json FILCH_DUMP_SIGNAL=USR1 FILCH_TRACE_EVENTS=64 run signalled || fail "signalled, small"
checked trace.signal.json why=signal
FILE=trace.held.json FILCH_WATCHDOG_MS=10 FILCH_TRACE_MS=1000 run held || fail "held"
files trace.held.json trace.json
checked trace.held.json why='a fiber held its worker' slice=hog
if [ -z "$sanitizers" ]; then # they have threads of their own, which might wake somebody
    if (run deadlock) 2>/dev/null; then fail "a deadlock ends well"; fi
    files trace.deadlock.json
    checked trace.deadlock.json why=deadlock wait='waits for receive' row=lonely
fi

# Without a stop.
for how in exit_in_fiber exit_beside_fiber; do
    FILCH_STATS=1 run "$how" || fail "$how"
    checked trace.json why=exit
    grep -Eq '^filch: what [0-9]+ workers? did in ' said || fail "$how has no table"
done
run exit_in_fiber || fail "exit in a fiber"
checked trace.json slice=main

# Several runtimes, several processes.
run twice || fail "twice"
files trace.2.json trace.json
checked trace.json slice=fib
checked trace.2.json slice=fib
if [ -z "$sanitizers" ]; then # in the child their locks may be taken for ever
    run forks || fail "forks"
    read -r child <said
    files "trace.$child.2.json" trace.json
    for file in *.json; do checked "$file" slice=fib; done
    FILE=trace.json run forks_and_exits || fail "a child that ends"
    files trace.json
fi
FILCH_TRACE=trace-%p-%%.json run outside || fail "%p"
[[ $(echo *.json) =~ ^trace-[0-9]+-%\.json$ ]] || fail "%p: $(echo *.json)"

# Names without an ending, and what is no file.
FILCH_TRACE=out FILE=out.signal FILCH_DUMP_SIGNAL=USR1 run signalled || fail "no ending"
checked out.signal why=signal
mkfifo pipe
cat pipe >piped &
exec 9>pipe # only when it has its reader
FILCH_TRACE=pipe run outside || fail "a pipe"
exec 9>&-
wait $!
checked piped why=stop
[ -p pipe ] || fail "the pipe is gone"
FILCH_TRACE=/dev/null run outside || fail "/dev/null"
[ -c /dev/null ] || fail "/dev/null is gone"
(FILCH_TRACE=/dev/stdout run twice) >said || fail "/dev/stdout"
# shellcheck disable=SC2154  # `said` is a file
[ -s said ] || fail "/dev/stdout: nothing"
FILCH_TRACE=/dev/null FILE=/dev/null FILCH_DUMP_SIGNAL=USR1 run signalled || fail "/dev/null at a signal"
[ ! -e /dev/null.signal ] || fail "a file beside /dev/null"

# What cannot be: the program goes on, and a line is said.
FILCH_TRACE=nowhere/trace.json run outside || fail "nowhere"
[ "$(cat said)" = "filch: FILCH_TRACE: cannot write $PWD/nowhere/trace.json: No such file or directory" ] || fail "nowhere"
FILCH_TRACE=/dev/full run outside || fail "full"
[ "$(cat said)" = "filch: FILCH_TRACE: cannot write /dev/full: No space left on device" ] || fail "full"
FILCH_TRACE=$(printf 'x%.0s' {1..5000}) run outside || fail "a long name"
[[ $(cat said) = *"File name too long" ]] || fail "a long name"

# What makes no sense is named.
for nonsense in FILCH_TRACE_MS=soon FILCH_TRACE_EVENTS=1 FILCH_TRACE_EVENTS=-5; do
    # shellcheck disable=SC2163  # what is in it is exported
    if (export "$nonsense" && run outside) 2>/dev/null; then fail "$nonsense was taken"; fi
    grep -q "filch: ${nonsense%=*} is '${nonsense#*=}'" said || fail "$nonsense"
done
