#!/usr/bin/env bash
# cli_fault_test.sh FILCH WRONG-ANSWER: filch reports each way in which a program can fail.  The programs are small scripts in
# a directory of their own.
set -euo pipefail
filch=$1 wrong_answer=$2
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"

# A wrong result is detected in any repetition.
filch=$wrong_answer
runs -n 10 -r 2
stdout_has '"result":55'
fails 1 -n 10 -r 3
stderr_has 'fib on nonsense: wrong result 56, expected 55'
[ -z "$stdout" ] || fail 'a wrong result is reported as valid'
filch=$1

export FILCH_BENCH_DIR=$work/programs
mkdir -- "$FILCH_BENCH_DIR"

# pretend NAME SCRIPT: write a program that runs SCRIPT.
pretend() {
    printf '#!/bin/sh\n%s\n' "$2" >"$FILCH_BENCH_DIR/$1"
    chmod +x "$FILCH_BENCH_DIR/$1"
}

# line RUNTIME WORKERS: print a command that prints a valid report.
line() {
    printf "echo '%s'" "{\"workload\":\"fib\",\"runtime\":\"$1\",\"compiler\":\"gcc\",\"size\":40,\
\"workers\":$2,\"spawns\":10,\"result\":55,\"peak_kb\":100,\"samples\":[0.5]}"
}

# bench: one worker, one repetition.
bench="bench fib --workers 1 --repeat 1"

# Without any program.
# shellcheck disable=SC2086  # split into arguments
fails 1 $bench
stderr_has 'cannot measure fib: no program fib-serial in'
fails 1 bench run fib
stderr_has 'cannot run fib: no program fib-filch-counted in'

# A missing runtime is named, with the reason if the build knows it.  The others are measured.
pretend fib-serial "$(line serial 1)"
pretend fib-filch "$(line filch 1)"
echo 'tbb: not supported here' >"$FILCH_BENCH_DIR/left-out"
# shellcheck disable=SC2086
runs $bench
stderr_has 'tbb is not measured: not supported here'
stderr_has 'libgomp is not measured: no program fib-libgomp in'
stdout_has '  filch              1      500.00      500.00      1.00'
# shellcheck disable=SC2086
runs $bench --runtimes filch
[ -z "$stderr" ] || fail 'a runtime that was not selected is named'

# breaks TEXT SCRIPT: a peer that runs SCRIPT is reported with TEXT, the others are shown, and filch fails.
timeout=600
breaks() {
    pretend fib-tbb "$2"
    # shellcheck disable=SC2086
    fails 1 $bench --runtimes filch,tbb --timeout "$timeout"
    stderr_has "filch: fib-tbb (1 worker) $1"
    stdout_has '  filch              1      500.00'
    [[ $stdout =~ tbb\ +1\ +failed ]] || fail 'the table does not show the failure'
}
breaks 'exited with 1: wrong result 7' 'echo wrong result 7 >&2; exit 1'
breaks 'exited with 9' 'exit 9'
# shellcheck disable=SC2016  # $$ is for the script
breaks 'was killed by a signal: Segmentation fault' 'kill -SEGV $$'
breaks 'did not print a line of JSON' 'exit 0'
breaks 'did not print a line of JSON' 'echo hello'
breaks 'did not print a line of JSON' "$(line tbb 1); echo more"
breaks 'did not print a line of JSON' 'echo "{\"workload\":"'
breaks 'reported another run' "$(line filch 1)"
breaks 'reported another run' "$(line tbb 2)"
breaks 'printed an invalid report' "$(line tbb 1 | sed 's/0.5/"x"/')"
breaks 'printed an invalid report' "$(line tbb 1 | sed 's/0.5//')"
breaks 'printed an invalid report' "$(line tbb 1 | sed 's/0.5/-1/')"
breaks 'printed an invalid report' "$(line tbb 1 | sed 's/0.5/1,2/')"
breaks 'printed an invalid report' "$(line tbb 1 | sed 's/0.5/1e999/')"
breaks 'printed an invalid report' "$(line tbb 1 | sed 's/55/null/')"
breaks 'printed too much' 'head -c 1000000 /dev/zero | tr "\\0" x'
timeout=5 # the good programs must not reach it on a busy machine
breaks 'timed out' 'sleep 1000'
breaks 'timed out' 'exec >&- 2>&-; sleep 1000'
printf '\177ELF' >"$FILCH_BENCH_DIR/fib-tbb"
# shellcheck disable=SC2086
fails 1 $bench --runtimes tbb
stderr_has 'cannot be run: Exec format error'

# A program that fails in the second round is not called again, and its first result is not shown as valid.
pretend fib-tbb "$(line tbb 1); [ ! -e '$work/once' ] || echo more; : >>'$work/once'; echo x >>'$work/calls'"
fails 1 bench fib --workers 1 --repeat 4 --runtimes tbb --json
[ "$(wc -l <"$work/calls")" -eq 2 ] || fail 'a program that had failed was called again'
stdout_has '"runtime":"tbb","workers":1,"failed":true'

# A signal that kills filch also kills its programs and their children.
pretend fib-tbb "echo \$\$ >'$work/pid'; sleep 1000 & echo \$! >>'$work/pid'; wait"
"$filch" bench fib --workers 1 --runtimes tbb >"$work/log" 2>&1 &
tool=$!
until [ -f "$work/pid" ] && [ "$(wc -l <"$work/pid")" -eq 2 ]; do sleep 0.01; done
kill -TERM $tool
code=0
wait $tool || code=$?
[ $code -eq 143 ] || fail 'filch was not killed by the signal'
gone() { ! kill -0 "$1" 2>/dev/null || [[ $(cat "/proc/$1/stat" 2>/dev/null) =~ \)\ Z ]]; }
while read -r pid; do
    until gone "$pid"; do sleep 0.01; done # the test times out if the process stays
done <"$work/pid"
printf 'filch reports failures of programs\n'
