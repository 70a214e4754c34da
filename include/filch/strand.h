/* Strands: serial queues.  The functions of a strand run one at a time, in the order of their
 * submission, without a thread of their own.  So they need no lock for the data that only they use.
 *
 *     #include <filch/strand.h>
 *     #include <stdio.h>
 *
 *     static filch_strand balance_strand;
 *     static int balance;
 *
 *     static void deposit(void *arg)
 *     {
 *         balance += *(int *)arg;
 *     }
 *     static void read_balance(void *arg)
 *     {
 *         *(int *)arg = balance;
 *     }
 *     int main(void)
 *     {
 *         int five = 5, sum = 0;
 *         for (int i = 0; i < 10; i++)
 *             filch_strand_run(&balance_strand, deposit, &five);
 *         filch_strand_call(&balance_strand, read_balance, &sum);
 *         printf("%d\n", sum);
 *         filch_strand_stop(&balance_strand);
 *         return 0;
 *     }
 *
 * When the first function is submitted, a fiber starts that runs all functions of the queue and
 * then ends.  After a number of functions it yields to other fibers.  A function may wait: its
 * worker then runs other fibers, and the later functions of the strand wait with it.
 */
#ifndef FILCH_STRAND_H
#define FILCH_STRAND_H

#include <filch/version.h>

#include <stdint.h>

FILCH_BEGIN_DECLS

/* The caller provides the memory, and initialises it with FILCH_STRAND_INIT or zeros.  It must not
 * be moved.  It may be freed when filch_strand_stop has returned and no other call uses it.  The
 * fields are private. */
typedef struct filch_strand {
    uint32_t lock_[4];
    void *word_[9];
} filch_strand;

/* clang-format off */
#define FILCH_STRAND_INIT {{0, 0, 0, 0}, {0}}
/* clang-format on */

/* Submit work(arg) to the strand.  It runs after all functions that were submitted before.
 * filch_stop() waits for it.  If work is NULL, a message says so when its turn comes.
 * Call from: any thread, fiber, task or job, also a function of the strand.  Blocks: nothing.
 * Returns: 0: the function was submitted.
 *     -ENOMEM: there is no memory.
 *     -EPIPE: the strand is stopped.
 *     Other errors are those of filch_start, if the runtime cannot be started. */
FILCH_API int filch_strand_run(filch_strand *s, void (*work)(void *arg), void *arg);

/* Submit work(arg) to the strand, and wait until it has returned.  This needs no memory.  A
 * cancelled fiber still waits.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0: the function has returned.
 *     -EPIPE: the strand is stopped.
 *     -EDEADLK: called by a function of the strand.
 *     -EINVAL: work is NULL.
 *     Other errors are those of filch_start, if the runtime cannot be started. */
FILCH_API int filch_strand_call(filch_strand *s, void (*work)(void *arg), void *arg);

/* Wait until all functions that were submitted before have returned.  A cancelled fiber still
 * waits.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0: they have returned.
 *     -EDEADLK: called by a function of the strand. */
FILCH_API int filch_strand_wait(filch_strand *s);

/* Stop the strand: refuse further functions, and wait until all functions that were submitted have
 * returned.  Stopping it again does no harm.  A cancelled fiber still waits.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0: the strand has no functions, and its memory may be freed.
 *     -EDEADLK: called by a function of the strand, which is not stopped. */
FILCH_API int filch_strand_stop(filch_strand *s);

FILCH_END_DECLS

#endif
