#!/usr/bin/env bash
# cli_args_test.sh FILCH: help, version and usage errors of filch.  No measurement runs.
set -euo pipefail
filch=$1
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"

for word in help --help; do
    runs $word
    says 'usage: filch COMMAND'
done
for command in bench run; do
    runs $command --help
    says "usage: filch $command"
    for workload in fib tree nqueens matmul sort-uniform sort-exponential knapsack uts-T1 uts-T3; do
        says "  $workload "
    done
done
for words in help version 'bench --help' 'run --help' 'lab --help' 'scale --help' 'top --help'; do
    code=0
    # shellcheck disable=SC2086  # split into arguments
    complaint=$("$filch" $words 2>&1 >/dev/full) || code=$?
    [[ $code:$complaint = '1:filch: stdout: cannot write all output'* ]] || fail "$words: a full stdout is not reported"
done
for word in version --version; do
    runs $word
    [[ $said =~ ^filch\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "$word"
done

refuses 'missing command'
refuses "unknown command 'frobnicate'" frobnicate
refuses "unknown command ''" ''
refuses "help takes no arguments (got 'me')" help me
for command in bench run; do
    refuses "unknown option '--frobnicate'" $command --frobnicate
    refuses "unknown option '-x'" $command -x
    refuses "unknown workload 'nosuch'; choose from: fib, tree," $command nosuch
    refuses "'--workers' needs a value" $command --workers
    refuses "'--help=5' takes no value" $command --help=5
    for word in 0 -1 100000 99999999999999999999 junk 1x ' 1'; do
        refuses "(got '$word')" $command --workers "$word"
        refuses "(got '$word')" $command --repeat "$word"
    done
done

refuses 'fib is given twice' bench fib fib
refuses '--workers: 2 is given twice' bench --workers 1,2,2
refuses "(got '1,,2')" bench --workers 1,,2
refuses "unknown runtime 'cilk'; choose from: filch, tbb, libgomp, libomp" bench --runtimes filch,cilk
refuses '--runtimes: tbb is given twice' bench --runtimes tbb,tbb
refuses '--size needs exactly one workload' bench --size 5
refuses '--size needs exactly one workload' bench fib tree --size 5
refuses 'exclude each other' bench fib --size 5 --quick
refuses 'must end in .svg or .png' bench --plot picture.gif
refuses '--timeout takes a number' bench --timeout 0
path=$work
refuses 'gnuplot is not installed' bench --plot "$work/a.svg"
path=$PATH

refuses 'run needs a workload' run
refuses "(got also 'tree')" run fib tree

# The programs check sizes and print the valid range.
refuses 'n of fib(n) must be a number from 0 to 60, and not "61"' run fib -n 61
refuses 'from 1 to 1000, and not "0"' bench tree --size 0 --runtimes filch
refuses 'from 1 to 15, and not "16"' run nqueens -n 16
refuses 'power of two' run matmul -n 48
refuses 'from 16 to 4096, and not "8"' run matmul -n 8
refuses 'and not "5x"' run sort-uniform -n 5x
refuses 'from 1 to 26, and not "-3"' run knapsack --size=-3
refuses 'from 1 to 12, and not "13"' run uts-T1 -n 13
refuses 'from 1 to 2000, and not "2001"' run uts-T3 -n 2001
# The runtime checks its settings.
fails 1 run fib -n 5 --deque sack
complains sack
fails 1 run fib -n 5 --steal-batch 65
complains 65
fails 1 run fib -n 5 --publish never
complains never
fails 1 run fib -n 5 --stack-size 1
complains 1
printf 'filch reports usage errors\n'
