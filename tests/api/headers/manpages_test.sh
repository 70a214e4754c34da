#!/usr/bin/env bash
# manpages_test.sh TREE: tools/manpages accepts TREE, and reports each kind of difference.
# Each case changes one file in a copy of the tree, and gives the expected message.
set -euo pipefail
tree=$1
command -v python3 >/dev/null || { printf 'skipped: python3 is not installed\n' && exit 77; }
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cases=0

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

fresh_copy() {
    rm -rf -- "$work/tree"
    mkdir -p "$work/tree"
    cp -r -- "$tree/include" "$tree/man" "$tree/src" "$tree/cluster" "$work/tree"
}

# check MESSAGE: tools/manpages must reject the copy and print MESSAGE.
check() {
    local output code=0
    output=$("$tree/tools/manpages" "$work/tree") || code=$?
    [ "$code" -eq 1 ] || fail "exit code $code, expected: $1"
    case $output in
    *"$1"*) ;;
    *) fail "expected: $1; got: $output" ;;
    esac
    cases=$((cases + 1))
}

# edit FILE SED-SCRIPT MESSAGE: change a file of the copy, which must change, and check.
edit() {
    fresh_copy
    sed -i "$2" "$work/tree/$1"
    ! cmp -s "$tree/$1" "$work/tree/$1" || fail "$2 does not change $1"
    check "$3"
}

"$tree/tools/manpages" "$tree" || fail "the headers and the manual pages differ"
fresh_copy
"$tree/tools/manpages" "$work/tree" || fail "a plain copy is rejected"

# Functions, macros and pages
fresh_copy
rm "$work/tree/man/filch_yield.3"
check 'fiber.h: filch_yield has no page man/filch_yield.3'
fresh_copy
rm "$work/tree/man/FILCH_SEM_INIT.3"
check 'sync.h: FILCH_SEM_INIT has no page man/FILCH_SEM_INIT.3'
edit man/filch_mutex_lock.3 's/^\.Nm filch_mutex_unlock/&\n.Nm filch_mutex_destroy/' \
    'filch_mutex_lock.3: filch_mutex_destroy is not in any header'
edit include/filch/fiber.h 's/void filch_yield(void)/void filch_pause(void)/' \
    'filch_yield.3: filch_yield is not in any header'
edit man/filch_sem_post.3 's/filch_sem_wait/filch_sem/' 'filch_sem_post.3: links to filch_sem.3, which is not a page'
edit man/filch_sem_post.3 's/filch_sem_wait/filch_yield/' \
    'filch_sem_post.3: links to filch_yield.3, which does not name filch_sem_post'
edit man/filch_yield.3 's/Xr filch_go 3/Xr filch_run 3/' 'filch_yield.3: refers to filch_run(3), which is not a page'
edit include/filch/job.h 's/FILCH_JOB_PAYLOAD_MAX/FILCH_JOB_COPY_MAX/' 'job.h: no page mentions FILCH_JOB_COPY_MAX'

# Comments
edit include/filch/fiber.h 's/^\( \* \)Call from: \(.*Blocks\)/\1\2/' 'fiber.h: the comment of filch_yield has no Call from:'
edit include/filch/sync.h 's/Blocks:/Waits:/' 'sync.h: the comment of filch_mutex_lock has no Blocks:'
edit include/filch/time.h 's/Returns:/Result:/' 'time.h: the comment of filch_now has no Returns:'

# Prototypes
edit man/filch_yield.3 's/^\.Fn filch_yield void/.Fn filch_yield "int n"/' \
    'filch_yield.3: filch_yield(int n) is filch_yield(void) in fiber.h'
edit man/filch_yield.3 's/^\.Ft void/.Ft int/' 'filch_yield.3: filch_yield returns void in fiber.h, not int'
edit man/filch_yield.3 's/fiber\.h/sync.h/' 'filch_yield.3: filch_yield is declared in fiber.h, not in sync.h'

# Structs
edit man/filch_start.3 's/^    bool stats;/    bool stats, top;/' \
    "filch_start.3: filch_config has no field 'bool stats,top' in the header"
edit include/filch/deque.h 's/^    unsigned steal_max/    unsigned spins;\n&/' \
    "filch_deque_new.3: the field 'unsigned spins' of filch_deque_attr is in the header alone"

# Error codes
edit include/filch/sync.h '0,/-EAGAIN/s//-EBUSY/' 'filch_mutex_lock.3: -EBUSY of filch_mutex_try_lock is in the header alone'
edit man/filch_fiber_start.3 's/-EDEADLK/-EPERM/' 'filch_fiber_start.3: -EPERM is in the page alone'
edit man/filch_ticker_start.3 's/^\.Xr filch_start 3 ,/.Xr filch_stop 3 ,/' \
    'filch_ticker_start.3: the errors of filch_start are in the header alone, of filch_ticker_start'
edit include/filch/fiber.h 's/those of filch_start/those of filch_stop/' \
    'filch_go.3: the errors of filch_start are in the page alone'

# Messages
edit man/FILCH_TASK.3 's/^\.It "filch: task %s/& has/' 'FILCH_TASK.3: the message "task %s has'

edit man/filch-errors.7 '/^\.It "all fibers are asleep/d' \
    'filch-errors.7: does not list the message "all fibers are asleep and nothing can wake them"'
edit man/filch-errors.7 's/^\.It "all fibers/& of it/' 'filch-errors.7: lists "all fibers of it are asleep'
edit src/sync/mutex.c 's/the mutex is not locked/the mutex is free/' \
    'filch-errors.7: does not list the message "filch_mutex_unlock: the mutex is free"'
edit cluster/start.c 's/the runtime cannot be started/there is no runtime/' \
    'filch-errors.7: does not list the message "filch_cluster_start: there is no runtime (...); all ranks end"'
edit cluster/transport/mpi.c 's/MPI does not grant MPI_THREAD/MPI has no MPI_THREAD/' \
    'filch-errors.7: does not list the message "filch_cluster_start: MPI has no MPI_THREAD_FUNNELED"'

# The overview
edit man/filch.7 '/^\.It In filch\/chan\.h/d' 'filch.7: does not list <filch/chan.h>'
edit man/filch.7 '/^\.It Ev FILCH_WORKERS/d' 'filch.7: does not list FILCH_WORKERS'
edit man/filch.7 '/^\.It Ev FILCH_CLUSTER_LOOT/d' 'filch.7: does not list FILCH_CLUSTER_LOOT'
edit man/filch.7 's/^\.It Ev FILCH_WORKERS/&\n.It Ev FILCH_THREADS/' \
    'filch.7: lists FILCH_THREADS, which src/ does not read'

printf '%d differences were reported\n' "$cases"
