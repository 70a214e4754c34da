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
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS_MAX = 64, N_MAX = 16, SERIAL_ROWS = 5 };

typedef struct worker {
    filch_deque *deque;
    unsigned long solutions;
    pthread_t thread;
} worker;

/* A board is a task.  A set bit is a column of the next row that the queens above attack. */
typedef struct board {
    unsigned columns, left, right; /* straight and along both diagonals */
    int rows;                      /* without a queen */
} board;

static worker workers[WORKERS_MAX];
static int n_workers;
static unsigned all_columns;
static atomic_long unfinished; /* tasks that were pushed and have not returned */

static void place_queens(worker *w, board b);

/* Push a copy of the board.  Run it at once if it is small, or if there is no memory. */
static void spawn(worker *w, board b)
{
    board *task = b.rows > SERIAL_ROWS ? malloc(sizeof *task) : NULL;

    atomic_fetch_add(&unfinished, task != NULL);
    if (task && (*task = b, filch_deque_push(w->deque, task)) == 0)
        return;
    atomic_fetch_sub(&unfinished, task != NULL);
    free(task);
    place_queens(w, b);
}

static void place_queens(worker *w, board b)
{
    w->solutions += b.rows == 0;
    for (unsigned f = all_columns & ~(b.columns | b.left | b.right); b.rows && f; f &= f - 1) {
        unsigned queen = f & -f;
        spawn(w, (board){b.columns | queen, (b.left | queen) << 1, (b.right | queen) >> 1,
                         b.rows - 1});
    }
}

/* The newest task of the worker, or the oldest task of another one. */
static board *next_task(worker *w)
{
    void *task = filch_deque_pop(w->deque);

    for (int i = 0; !task && i < n_workers; i++)
        if (filch_deque_steal(workers[i].deque, &task, 1) != 1)
            task = NULL;
    return task;
}

/* A task is counted before it is pushed and until it has returned, so 0 means that no task is left
 * and none can make another one. */
static void *worker_main(void *arg)
{
    while (atomic_load(&unfinished) > 0) {
        board *task = next_task(arg);
        if (task) {
            place_queens(arg, *task);
            free(task);
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
        return fputs("usage: scheduler [N [WORKERS]], with N up to 16, WORKERS up to 64\n", stderr),
               2;
    all_columns = (1u << n) - 1;
    for (int i = 0; i < n_workers; i++)
        if (!(workers[i].deque = filch_deque_new(NULL)))
            return fputs("scheduler: there is no memory\n", stderr), 1;
    spawn(&workers[0], (board){0, 0, 0, n});
    while (threads < n_workers &&
           pthread_create(&workers[threads].thread, NULL, worker_main, &workers[threads]) == 0)
        threads++;
    worker_main(&workers[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < n_workers; i++) {
        solutions += workers[i].solutions;
        filch_deque_free(workers[i].deque);
    }
    return printf("%lu\n", solutions) < 0;
}
