#!/usr/bin/env bash
# cli_args_test.sh FILCH: help, version and usage errors of filch.  No measurement runs.
set -euo pipefail
filch=$1
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"

for word in help --help -h; do
    runs $word
    stdout_has 'usage: filch COMMAND'
done
# shellcheck disable=SC2086  # split into arguments
for command in bench 'bench run'; do
    runs $command --help
    stdout_has "usage: filch $command"
    for workload in fib tree nqueens matmul sort-uniform sort-exponential knapsack uts-T1 uts-T3; do
        stdout_has "  $workload "
    done
done
commands=('bench' 'bench run' 'bench jobs' 'bench fibers' 'cluster' 'cluster sim' 'dump' 'help' 'info' 'lab' 'run' 'scale' 'top' 'trace' 'version')
for words in help version "${commands[@]/%/ --help}"; do
    code=0
    # shellcheck disable=SC2086  # split into arguments
    stderr=$("$filch" $words 2>&1 >/dev/full) || code=$?
    [[ $code:$stderr = '1:filch: stdout: cannot write all output'* ]] || fail "$words: a full stdout is not reported"
done
is_version() { [[ $stdout =~ ^filch\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "$1"; }
for word in version --version -V; do
    runs $word
    is_version "$word"
done

# Every command has the same options and names the nearest option.
# shellcheck disable=SC2086  # split into arguments
for command in "${commands[@]}"; do
    runs help $command
    stdout_has "usage: filch $command"
    stdout_has '-V, --version'
    help=$stdout
    for option in --help -h; do
        runs $command $option
        [ "$stdout" = "$help" ] || fail "filch $command $option differs from filch help $command"
    done
    for option in --version -V; do
        runs $command $option
        is_version "$command $option"
    done
    rejects "unknown option '--hlep'; did you mean '--help'?" $command --hlep
    rejects "unknown option '--frobnicate'; see --help" $command --frobnicate
    rejects "unknown option '-x'" $command -x
    rejects "'--help=5' takes no value" $command --help=5
done

rejects 'missing command'
rejects "unknown command 'frobnicate'; run 'filch help' for a list" frobnicate
rejects "unknown command 'bnech'; did you mean 'bench'?" bnech
rejects "unknown command ''" ''
rejects "unknown command 'me'" help me
rejects "help takes one command (got also 'lab')" help bench lab
runs help --help
stdout_has 'usage: filch help'
# What a form of bench does not accept is not in its help.
runs bench jobs --help
[[ $stdout != *--runtimes* && $stdout != *--size* && $stdout = *--plot* ]] || fail 'the options of bench jobs'
runs bench fibers --help
[[ $stdout != *--runtimes* && $stdout != *--size* && $stdout != *--plot* ]] || fail 'the options of bench fibers'
rejects "unknown experiment 'nosuch'; choose from: peers, " lab nosuch
stderr_has 'all, report, csv'
rejects "version takes no arguments (got 'me')" version me
# shellcheck disable=SC2086  # split into arguments
for command in bench 'bench run'; do
    rejects "unknown workload 'nosuch'; choose from: fib, tree," $command nosuch
    rejects "'--workers' needs a value" $command --workers
    for word in 0 -1 100000 99999999999999999999 junk 1x ' 1'; do
        rejects "(got '$word')" $command --workers "$word"
        rejects "(got '$word')" $command --repeat "$word"
    done
done

rejects 'fib is given twice' bench fib fib
rejects '--workers: 2 is given twice' bench --workers 1,2,2
rejects "(got '1,,2')" bench --workers 1,,2
rejects "unknown runtime 'cilk'; choose from: filch, tbb, libgomp, libomp" bench --runtimes filch,cilk
rejects '--runtimes: tbb is given twice' bench --runtimes tbb,tbb
rejects '--size needs exactly one workload' bench --size 5
rejects '--size needs exactly one workload' bench fib tree --size 5
rejects 'exclude each other' bench fib --size 5 --quick
rejects 'must end in .svg or .png' bench --plot picture.gif
rejects '--timeout takes a number' bench --timeout 0
path=$work
rejects 'gnuplot is not installed' bench --plot "$work/a.svg"
path=$PATH

rejects 'bench run needs a workload' bench run
rejects "(got also 'tree')" bench run fib tree

# The programs check sizes and print the valid range.  The line does not name them.
rejects "filch: bench run: n of fib(n) must be a number from 0 to 60 (got '61')" bench run fib -n 61
rejects "filch: bench run: n of fib(n) must be a number from 0 to 60 (got '-1')" bench run fib -n -1
rejects "filch: bench: n of fib(n) must be a number from 0 to 60 (got '61')" bench fib --size 61 --runtimes filch
rejects "from 1 to 1000 (got '0')" bench tree --size 0 --runtimes filch
rejects "from 1 to 15 (got '16')" bench run nqueens -n 16
rejects 'filch: bench run: the size must be a power of two' bench run matmul -n 48
rejects "from 16 to 4096 (got '8')" bench run matmul -n 8
rejects "(got '5x')" bench run sort-uniform -n 5x
rejects "from 1 to 26 (got '-3')" bench run knapsack --size=-3
rejects "from 1 to 12 (got '13')" bench run uts-T1 -n 13
rejects "from 1 to 2000 (got '2001')" bench run uts-T3 -n 2001
# The runtime checks its settings.
rejects 'filch: bench run: --deque: ' bench run fib -n 5 --deque sack
stderr_has sack
rejects 'filch: bench run: --steal-batch: ' bench run fib -n 5 --steal-batch 65
stderr_has 65
rejects 'filch: bench run: --steal-batch: ' bench run fib -n 5 --deque bounded --steal-batch 4
stderr_has bounded
rejects 'filch: bench run: --publish: ' bench run fib -n 5 --publish never
stderr_has never
rejects 'filch: bench run: --stack-size: ' bench run fib -n 5 --stack-size 1
FILCH_DEQUE=sack fails 1 bench run fib -n 5
stderr_has FILCH_DEQUE

# What a bug report needs.
rejects "info takes no arguments (got 'me')" info me
FILCH_NAME=$'a\xff"b' runs info
for name in filch build compiler 'workers by default' membarrier vm.max_map_count RLIMIT_NPROC ptrace_scope; do
    stdout_has "$name"
done
stdout_has 'FILCH_NAME                     a?"b'
# Overlong UTF-8, a surrogate, and a number above 10ffff.
FILCH_NAME=$'<\xe0\x80\xaf\xf0\x80\x80\xaf\xed\xa0\x80\xf4\x90\x80\x80>' runs info
stdout_has '<??????????????>'
if command -v python3 >/dev/null; then
    # Values are not altered, apart from bytes that are not UTF-8.
    FILCH_NAME=$'a\xff"b\\c\n\xc3\xa9\xc2\x9b\xe0\x80\xaf' runs info --json
    python3 -c "import json, sys; assert json.loads(sys.argv[1])['FILCH_NAME'] == 'a?\"b\\\\c\\n\u00e9\u009b???'" "$stdout" ||
        fail 'info --json'
fi
printf 'filch reports usage errors\n'
