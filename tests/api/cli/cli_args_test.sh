#!/usr/bin/env bash
# cli_args_test.sh FILCH: help, version and usage errors of filch.  No measurement runs.
set -euo pipefail
filch=$1
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"

for word in help --help; do
    runs $word
    stdout_has 'usage: filch COMMAND'
done
for command in bench run; do
    runs $command --help
    stdout_has "usage: filch $command"
    for workload in fib tree nqueens matmul sort-uniform sort-exponential knapsack uts-T1 uts-T3; do
        stdout_has "  $workload "
    done
done
for words in help version 'bench --help' 'run --help' 'lab --help' 'scale --help' 'top --help'; do
    code=0
    # shellcheck disable=SC2086  # split into arguments
    stderr=$("$filch" $words 2>&1 >/dev/full) || code=$?
    [[ $code:$stderr = '1:filch: stdout: cannot write all output'* ]] || fail "$words: a full stdout is not reported"
done
for word in version --version; do
    runs $word
    [[ $stdout =~ ^filch\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "$word"
done

rejects 'missing command'
rejects "unknown command 'frobnicate'" frobnicate
rejects "unknown command ''" ''
rejects "help takes no arguments (got 'me')" help me
for command in bench run; do
    rejects "unknown option '--frobnicate'" $command --frobnicate
    rejects "unknown option '-x'" $command -x
    rejects "unknown workload 'nosuch'; choose from: fib, tree," $command nosuch
    rejects "'--workers' needs a value" $command --workers
    rejects "'--help=5' takes no value" $command --help=5
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

rejects 'run needs a workload' run
rejects "(got also 'tree')" run fib tree

# The programs check sizes and print the valid range.
rejects 'n of fib(n) must be a number from 0 to 60, and not "61"' run fib -n 61
rejects 'from 1 to 1000, and not "0"' bench tree --size 0 --runtimes filch
rejects 'from 1 to 15, and not "16"' run nqueens -n 16
rejects 'power of two' run matmul -n 48
rejects 'from 16 to 4096, and not "8"' run matmul -n 8
rejects 'and not "5x"' run sort-uniform -n 5x
rejects 'from 1 to 26, and not "-3"' run knapsack --size=-3
rejects 'from 1 to 12, and not "13"' run uts-T1 -n 13
rejects 'from 1 to 2000, and not "2001"' run uts-T3 -n 2001
# The runtime checks its settings.
fails 1 run fib -n 5 --deque sack
stderr_has sack
fails 1 run fib -n 5 --steal-batch 65
stderr_has 65
fails 1 run fib -n 5 --publish never
stderr_has never
fails 1 run fib -n 5 --stack-size 1
stderr_has 1
printf 'filch reports usage errors\n'
