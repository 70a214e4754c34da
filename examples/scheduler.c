/* A work-stealing scheduler on POSIX threads, with the deques of <filch/deque.h> and without the
 * runtime of Filch.  It counts the ways to place N queens on a board of N x N squares.
 *
 * Each worker has a deque.  It pushes the tasks that it makes to its own deque, pops the newest, and
 * steals the oldest task of another worker if it has none.  An idle worker yields its CPU until all
 * tasks are finished. */
#include <filch/deque.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS_MAX = 64, N_MAX = 16 };

typedef struct worker {
    filch_deque *deque;
    unsigned long solutions;
    pthread_t thread;
} worker;

static worker workers[WORKERS_MAX];
static int n_workers;
static uintptr_t all_columns;
static atomic_long unfinished = 1; /* tasks that were made and have not returned; main is one */

/* A task is a board in 48 bits: three masks of the columns in the next row that the queens above
 * attack, straight and along both diagonals.  The empty board is not pushed, so no task is NULL. */
static void place_queens(worker *w, uintptr_t board)
{
    uintptr_t columns = board & 0xffff, left = board >> 16 & 0xffff, right = board >> 32;

    w->solutions += columns == all_columns;
    for (uintptr_t f = all_columns & ~(columns | left | right); f; f &= f - 1) {
        uintptr_t queen = f & -f, to_left = (left | queen) << 1 & all_columns;
        uintptr_t next = columns | queen | to_left << 16 | (right | queen) >> 1 << 32;
        atomic_fetch_add(&unfinished, 1);
        if (filch_deque_push(w->deque, (void *)next) == 0)
            continue;
        place_queens(w, next); /* there is no memory for it */
        atomic_fetch_sub(&unfinished, 1);
    }
}

/* The newest task of the worker, or the oldest task of another one. */
static void *next_task(worker *w)
{
    void *task = filch_deque_pop(w->deque);

    for (int i = 0; !task && i < n_workers; i++)
        if (filch_deque_steal(workers[i].deque, &task, 1) != 1)
            task = NULL;
    return task;
}

/* A task is counted from before its push until it has returned, so 0 means that no task is left and
 * none can make another one. */
static void *worker_main(void *w)
{
    while (atomic_load(&unfinished) > 0) {
        void *task = next_task(w);
        if (task) {
            place_queens(w, (uintptr_t)task);
            atomic_fetch_sub(&unfinished, 1);
        } else {
            sched_yield();
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 8, threads = 1;
    unsigned long solutions = 0;

    n_workers = argc > 2 ? atoi(argv[2]) : 4;
    if (n < 1 || n > N_MAX || n_workers < 1 || n_workers > WORKERS_MAX)
        return fputs("usage: scheduler [N [WORKERS]], N up to 16, WORKERS up to 64\n", stderr), 2;
    all_columns = ((uintptr_t)1 << n) - 1;
    for (int i = 0; i < n_workers; i++)
        if (!(workers[i].deque = filch_deque_new(NULL)))
            return fputs("scheduler: there is no memory\n", stderr), 1;
    while (threads < n_workers &&
           pthread_create(&workers[threads].thread, NULL, worker_main, &workers[threads]) == 0)
        threads++;
    place_queens(&workers[0], 0);
    atomic_fetch_sub(&unfinished, 1);
    worker_main(&workers[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < n_workers; i++) {
        solutions += workers[i].solutions;
        filch_deque_free(workers[i].deque);
    }
    return printf("%lu\n", solutions) < 0;
}
