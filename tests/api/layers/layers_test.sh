#!/usr/bin/env bash
# layers_test.sh LAYERS CC NM: tools/layers reports every forbidden include and symbol, and no allowed
# one.  Each case writes files into a small made-up tree and states the expected output.
set -euo pipefail
layers=$1
cc=$2
export NM=$3
tree=$(mktemp -d)
trap 'rm -rf -- "$tree"' EXIT
cases=0

fresh_tree() {
    rm -rf -- "$tree"
    mkdir -p "$tree"/src/{base,ctx,deque,stack,sched,task,algo,observe} "$tree"/include/filch \
        "$tree"/{bench/parts/deque,bench/fib,cli,cluster/{protocol,transport,run,bags,unlisted},examples,tests}
}

# answer FILE LINE: write the line, run, and keep the output and the exit status.
answer() {
    fresh_tree
    printf '%s\n' "$2" >"$tree/$1"
    code=0
    output=$("$layers" "$tree" 2>&1) || code=$?
    cases=$((cases + 1))
}

fail() {
    printf 'FAILED: %s with %s: exit %d, output: %s\n' "$1" "$2" "$code" "$output" >&2
    exit 1
}

allowed() {
    answer "$1" "$2"
    if [ "$code" -ne 0 ] || [ -n "$output" ]; then fail "$1" "$2"; fi
}

# refused FILE LINE WHY: must name the file, the line and the reason.
refused() {
    answer "$1" "$2"
    [ "$code" -eq 1 ] || fail "$1" "$2"
    case $output in
    "$1:1: "*"$3"*) ;;
    *) fail "$1" "$2" ;;
    esac
}

allowed src/base/mem.c '#include "base/mem.h"'
allowed src/base/mem.c '#include <stdlib.h>'
allowed src/base/mem.c '#include <filch/memory.h>'
allowed src/base/atomic.h '#include FI_ATOMIC_HEADER'
allowed src/deque/batch.c '#include "base/atomic.h"'
allowed src/sched/worker.c '#  include "deque/deque.h"'
allowed src/task/task.c '#include "sched/worker.h"'
allowed src/observe/stats.c '#include "task/task.h"'
allowed src/algo/for.c '#include <filch/task.h>'
allowed src/algo/for.c '#include "algo/grain.h"'
allowed src/version.c '#include <filch/version.h>'
allowed src/hooks.c '#include "observe/observe.h"'
allowed include/filch/task.h '#include <filch/version.h>'
allowed include/filch/filch.h '#include <filch/stats.h>'
allowed bench/parts/deque/b.c '#include "deque/deque.h"'
allowed bench/fib/filch.c '#include <filch/filch.h>'
allowed bench/fib/filch.c '#include "fib.h"'
allowed cli/main.c '#include <filch/stats.h>'
allowed tests/t.c '#include "observe/stats.h"'
allowed cluster/start.c '#include "run/comm.h"'
allowed cluster/run/comm.c '#include "observe/ranks_page.h"'
allowed cluster/run/comm.c '#include "report.h"'
allowed cluster/run/lanes.h '#include "base/atomic.h"'
allowed cluster/protocol/rank.c '#include "protocol/rank.h"'
allowed cluster/bags/range.c '#include <filch/cluster.h>'
allowed src/base/mem.c ' *     #include "sched/worker.h"'

refused src/base/mem.c '#include "deque/deque.h"' 'upward include'
refused src/base/mem.c '	# include	"sched/worker.h"' 'upward include'
refused src/base/mem.c '#include <filch/task.h>' 'upward include'
refused src/base/mem.c '#include <filch/filch.h>' 'upward include'
refused src/deque/batch.c '#include "ctx/ctx.h"' 'sideways include'
refused src/ctx/switch.S '#include "sched/worker.h"' 'upward include'
refused src/sched/worker.c '#include "task/task.h"' 'upward include'
refused src/sched/worker.c '#include "observe/stats.h"' 'upward include'
refused src/task/task.c '#include "algo/for.h"' 'sideways include'
refused src/algo/for.c '#include "sched/worker.h"' 'only <filch/'
refused src/version.c '#include "deque/deque.h"' 'upward include'
refused src/deque/batch.c '#include "batch.h"' 'not as "directory/file.h"'
refused src/deque/batch.c '#include "../base/mem.h"' 'path with dots'
refused src/deque/batch.c '#include DEQUE_HEADER' 'by macro'
refused src/deque/batch.c '#include "unlisted/mem.h"' 'unknown layer'
refused include/filch/task.h '#include "base/mem.h"' 'only <filch/'
refused include/filch/memory.h '#include <filch/task.h>' 'upward include'
refused include/filch/unlisted.h '#include <stddef.h>' 'unknown layer'
refused bench/parts/deque/b.c '#include "sched/worker.h"' 'upward include'
refused bench/fib/filch.c '#include "base/clock.h"' 'only <filch/'
refused cluster/protocol/rank.c '#include "run/comm.h"' 'upward include in cluster/'
refused cluster/protocol/rank.c '#include "report.h"' 'only protocol/'
refused cluster/transport/one.c '#include "observe/ranks_page.h"' 'sideways include in cluster/'
refused cluster/run/comm.c '#include "sched/worker.h"' 'cluster/ may not include'
refused cluster/unlisted/new.c '#include <stddef.h>' 'unknown layer of the directory cluster "unlisted"'
refused src/sched/worker.c '#include <filch/cluster.h>' 'upward include'
refused cli/main.c '#include "src/base/mem.h"' 'not as "directory/file.h"'
refused examples/e.cpp '#include "../src/base/mem.h"' 'path with dots'

# object FILE SOURCE: compile it to FILE.o.
object() {
    printf '%s\n' "$2" | "$cc" -x c -c -o "$tree/$1.o" -
}

# symbols EXIT ANSWER: check the objects of src/task (defines fi_task, filch_task), src/sched (defines
# fi_sched) and of the other directories.
symbols() {
    code=0
    output=$("$layers" "$tree" "$tree"/src/*/*.o "$tree"/src/*.o 2>&1) || code=$?
    cases=$((cases + 1))
    if [ "$code" -ne "$1" ] || [ "$output" != "$2" ]; then fail "objects" "$1 '$2'"; fi
}

fresh_tree
object src/hooks.c 'int fi_runtime_hooks; extern int fi_task; int fi_root(void) { return fi_task; }'
object src/task/task.c 'int fi_task, filch_task;'
symbols 2 'layers: the objects use no symbols of each other'
object src/sched/worker.c 'extern int fi_runtime_hooks; int fi_sched(void) { return fi_runtime_hooks; }'
object src/observe/stats.c 'extern int fi_task; int fi_stats(void) { return fi_task; }'
object src/algo/for.c 'extern int filch_task; int fi_for(void) { return filch_task; }'
symbols 0 ''
object src/sched/idle.c 'extern int fi_task; int fi_idle(void) { return fi_task; }'
symbols 1 'sched/idle.c.o: upward symbol: fi_task of src/task'
rm -- "$tree/src/sched/idle.c.o"
object src/algo/sort.c 'extern int fi_task; int fi_sort(void) { return fi_task; }'
symbols 1 'algo/sort.c.o: sideways symbol: fi_task of src/task'

rm -rf -- "$tree/src"
code=0
output=$("$layers" "$tree" 2>&1) || code=$?
[ "$code" -eq 2 ] || fail "a tree without src/" "nothing"
printf '%d cases checked\n' "$cases"
