/* Locks and their kin, for fibers and threads in any mix: who is a fiber parks, who is a thread blocks.
 *
 *     #include <filch/fiber.h>
 *     #include <filch/sync.h>
 *     #include <stdio.h>
 *
 *     static filch_mutex lock;
 *     static filch_wait_group all;
 *     static int sum;
 *
 *     static void add(void *arg)
 *     {
 *         filch_mutex_lock(&lock);
 *         sum += *(int *)arg;
 *         filch_mutex_unlock(&lock);
 *         filch_wait_group_done(&all);
 *     }
 *     int main(void)
 *     {
 *         int one = 1;
 *         for (int i = 0; i < 10; i++)
 *             filch_wait_group_add(&all, 1), filch_go(add, &one);
 *         filch_wait_group_wait(&all);
 *         return printf("%d\n", sum) < 0;
 *     }
 *
 * Zeroed memory is ready to use, and there is nothing to free.  The fields are Filch's.  An object
 * must not be moved or freed while a call waits at it.
 *
 * The call that wakes a waiter (unlock, end_read, end_write, post, done, signal, the last
 * filch_barrier_wait) does not touch the object once the waiter may continue.  So a waiter whose
 * call has succeeded may free the object at once, if no other call waits at it.  For a filch_cond,
 * the signal must be given with the mutex held.  A filch_once may be freed when every call has
 * returned.
 *
 * Deadlines are times of filch_now().  Calls that return an int may be cut short: -ETIMEDOUT when the deadline has come,
 * -ECANCELED when the fiber was cancelled, -ENOMEM when there is no memory for a deadline.  Calls that return nothing cannot.
 *
 * Call from: any thread, fiber, task or job, unless it says otherwise.  Blocks: calls that wait, the fiber or the thread.
 * A caller's mistake (to unlock what is not locked) ends the program with a line.
 */
#ifndef FILCH_SYNC_H
#define FILCH_SYNC_H

#include <filch/time.h>
#include <filch/version.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

FILCH_BEGIN_DECLS

typedef struct filch_lock_ {
    uint32_t word_[4];
} filch_lock_;

/* ---- mutex ---- */

/* Who waits long gets it next, whoever else comes: nobody starves.  Any fiber or thread may unlock it. */
typedef struct filch_mutex {
    filch_lock_ lock_;
    void *waiters_;
    uint32_t state_, reserved_;
} filch_mutex;

FILCH_API void filch_mutex_lock(filch_mutex *m);
/* Returns: 0; -EAGAIN.  Blocks: nothing. */
FILCH_API int filch_mutex_try_lock(filch_mutex *m);
/* Returns: 0; -ETIMEDOUT; -ECANCELED. */
FILCH_API int filch_mutex_lock_until(filch_mutex *m, int64_t deadline);
FILCH_API void filch_mutex_unlock(filch_mutex *m);

/* ---- readers and writers ---- */

/* Many readers or one writer.  A writer that waits keeps new readers out, and after a writer those readers come first that
 * waited by then: neither starves the other. */
typedef struct filch_rwlock {
    filch_lock_ lock_;
    void *readers_, *writers_;
    uint32_t state_, reserved_;
} filch_rwlock;

FILCH_API void filch_rwlock_rdlock(filch_rwlock *l);
FILCH_API int filch_rwlock_try_rdlock(filch_rwlock *l);
FILCH_API int filch_rwlock_rdlock_until(filch_rwlock *l, int64_t deadline);
FILCH_API void filch_rwlock_rdunlock(filch_rwlock *l);
FILCH_API void filch_rwlock_wrlock(filch_rwlock *l);
FILCH_API int filch_rwlock_try_wrlock(filch_rwlock *l);
FILCH_API int filch_rwlock_wrlock_until(filch_rwlock *l, int64_t deadline);
FILCH_API void filch_rwlock_wrunlock(filch_rwlock *l);

/* ---- condition ---- */

/* To wait, with a mutex that is let go meanwhile and held again afterwards, also after an error.  No wake-up comes
 * without a reason, but what was so at the signal may have changed by the time the mutex is held: look again. */
typedef struct filch_cond {
    filch_lock_ lock_;
    void *waiters_;
} filch_cond;

/* Returns: 0; -ECANCELED; filch_cond_wait_until: also -ETIMEDOUT. */
FILCH_API int filch_cond_wait(filch_cond *c, filch_mutex *m);
FILCH_API int filch_cond_wait_until(filch_cond *c, filch_mutex *m, int64_t deadline);
/* Wake who has waited longest; all.  With the mutex held or not. */
FILCH_API void filch_cond_signal(filch_cond *c);
FILCH_API void filch_cond_broadcast(filch_cond *c);

/* ---- semaphore ---- */

/* A number, 0 at first, that waiters take from when it is large enough, first come, first served. */
typedef struct filch_sem {
    filch_lock_ lock_;
    void *waiters_;
    uint64_t count_;
} filch_sem;

/* clang-format off */
#define FILCH_SEM_INIT(n) {{{0, 0, 0, 0}}, NULL, (n)}
/* clang-format on */

/* Take n (or one), once it is there.  Returns: 0; -ECANCELED; -ETIMEDOUT; try: -EAGAIN. */
FILCH_API int filch_sem_wait(filch_sem *s);
FILCH_API int filch_sem_wait_until(filch_sem *s, int64_t deadline);
FILCH_API int filch_sem_try_wait(filch_sem *s);
FILCH_API int filch_sem_wait_n(filch_sem *s, uint64_t n);
FILCH_API int filch_sem_wait_n_until(filch_sem *s, uint64_t n, int64_t deadline);
/* Give n (or one). */
FILCH_API void filch_sem_post(filch_sem *s);
FILCH_API void filch_sem_post_n(filch_sem *s, uint64_t n);
FILCH_API uint64_t filch_sem_value(filch_sem *s);

/* ---- wait group ---- */

/* A number, 0 at first, that waiters wait to be 0. */
typedef struct filch_wait_group {
    filch_lock_ lock_;
    void *waiters_;
    uint64_t count_;
} filch_wait_group;

FILCH_API void filch_wait_group_add(filch_wait_group *g, unsigned n);
FILCH_API void filch_wait_group_done(filch_wait_group *g);
/* Returns: 0; -ECANCELED; filch_wait_group_wait_until: also -ETIMEDOUT. */
FILCH_API int filch_wait_group_wait(filch_wait_group *g);
FILCH_API int filch_wait_group_wait_until(filch_wait_group *g, int64_t deadline);

/* ---- once ---- */

typedef struct filch_once {
    filch_lock_ lock_;
    void *waiters_;
    const void *runner_;
    uint32_t state_, reserved_;
} filch_once;

/* The first who comes calls work(arg); all others wait until that is over.  From inside work: a mistake. */
FILCH_API void filch_once_run(filch_once *o, void (*work)(void *arg), void *arg);

/* ---- barrier ---- */

typedef struct filch_barrier {
    filch_lock_ lock_;
    void *waiters_;
    uint32_t count_, reserved_;
} filch_barrier;

/* Wait until n have come (all give the same n); then it is as new.
 * Returns: 1 for one of them, 0 for the others; -ECANCELED and -ETIMEDOUT: this one has not come. */
FILCH_API int filch_barrier_wait(filch_barrier *b, unsigned n);
FILCH_API int filch_barrier_wait_until(filch_barrier *b, unsigned n, int64_t deadline);

FILCH_END_DECLS

#endif
