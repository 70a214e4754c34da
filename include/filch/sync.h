/* Synchronisation between fibers and threads in any mix.  A fiber that waits parks, and its worker
 * runs other fibers.  A thread that waits blocks.
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
 * Zeroed memory is an initialised object, and there is nothing to free.  The fields are private.
 * An object must not be moved or freed while a call waits at it.
 *
 * A call that wakes a waiter (unlock, post, set, done, signal, the last filch_barrier_wait) does
 * not touch the object once the waiter may continue.  So a waiter whose call has succeeded may free
 * the object at once, if no other call waits at it.  For a filch_cond, the signal must be sent
 * with the mutex held.  A filch_once may be freed when every call has returned.
 *
 * Deadlines are times of filch_now().  Waits that return nothing cannot be interrupted.
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

/* A lock for one holder at a time.  It is not recursive.  Any fiber or thread may unlock it.
 * Barging is bounded, so waiters do not starve. */
typedef struct filch_mutex {
    filch_lock_ lock_;
    void *waiters_;
    uint32_t state_, reserved_;
} filch_mutex;

/* Lock the mutex.  A cancelled fiber still waits.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread. */
FILCH_API void filch_mutex_lock(filch_mutex *m);

/* Lock the mutex if that needs no wait.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: 0: the mutex is locked.
 *     -EAGAIN: it is held, or reserved for a waiter. */
FILCH_API int filch_mutex_try_lock(filch_mutex *m);

/* Lock the mutex, or give up at the deadline.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0: the mutex is locked.
 *     -ETIMEDOUT: the deadline passed.
 *     -ECANCELED: the fiber was cancelled.
 *     -ENOMEM: no memory to wait with a deadline. */
FILCH_API int filch_mutex_lock_until(filch_mutex *m, int64_t deadline);

/* Unlock the mutex.  Unlocking a mutex that is not locked aborts the program.
 * Call from: any thread, fiber, task or job.  Blocks: nothing. */
FILCH_API void filch_mutex_unlock(filch_mutex *m);

/* ---- read-write lock ---- */

/* A lock for many readers or one writer.  A waiting writer keeps new readers out.  After a writer
 * the readers that waited by then come first.  So neither starves.  A reader must not lock again
 * for reading: a writer may wait in between. */
typedef struct filch_rwlock {
    filch_lock_ lock_;
    void *readers_, *writers_;
    uint32_t state_, reserved_;
} filch_rwlock;

/* Lock for reading (rdlock) or for writing (wrlock).  A cancelled fiber still waits.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread. */
FILCH_API void filch_rwlock_rdlock(filch_rwlock *l);
FILCH_API void filch_rwlock_wrlock(filch_rwlock *l);

/* Lock for reading or for writing if that needs no wait.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: 0: the lock is held.
 *     -EAGAIN: the call would have to wait. */
FILCH_API int filch_rwlock_try_rdlock(filch_rwlock *l);
FILCH_API int filch_rwlock_try_wrlock(filch_rwlock *l);

/* Lock for reading or for writing, or give up at the deadline.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0: the lock is held.
 *     -ETIMEDOUT: the deadline passed.
 *     -ECANCELED: the fiber was cancelled.
 *     -ENOMEM: no memory to wait with a deadline. */
FILCH_API int filch_rwlock_rdlock_until(filch_rwlock *l, int64_t deadline);
FILCH_API int filch_rwlock_wrlock_until(filch_rwlock *l, int64_t deadline);

/* Unlock after reading or after writing.  Unlocking a lock that is not held aborts the program.
 * Call from: any thread, fiber, task or job.  Blocks: nothing. */
FILCH_API void filch_rwlock_rdunlock(filch_rwlock *l);
FILCH_API void filch_rwlock_wrunlock(filch_rwlock *l);

/* ---- condition variable ---- */

/* A queue of callers that wait for a condition, which a mutex protects. */
typedef struct filch_cond {
    filch_lock_ lock_;
    void *waiters_;
} filch_cond;

/* Unlock the mutex, wait for a signal, and lock the mutex again, also after an error.  There are no
 * spurious wake-ups.  But the condition may have changed between the signal and the lock, so
 * check it again.
 * Call from: any thread, fiber, task or job that holds the mutex.  Blocks: the fiber or the thread.
 * Returns: 0: a signal came.
 *     -ECANCELED: the fiber was cancelled.
 *     -ETIMEDOUT: filch_cond_wait_until: the deadline passed.
 *     -ENOMEM: filch_cond_wait_until: no memory to wait with a deadline. */
FILCH_API int filch_cond_wait(filch_cond *c, filch_mutex *m);
FILCH_API int filch_cond_wait_until(filch_cond *c, filch_mutex *m, int64_t deadline);

/* Wake the longest waiter (signal) or all waiters (broadcast).
 * Call from: any thread, fiber, task or job, with the mutex held or not.  Blocks: nothing. */
FILCH_API void filch_cond_signal(filch_cond *c);
FILCH_API void filch_cond_broadcast(filch_cond *c);

/* ---- semaphore ---- */

/* A counter that starts at 0, or at n with FILCH_SEM_INIT(n).  Waiters are served in FIFO order: a
 * waiter that wants much is not overtaken by waiters that want little. */
typedef struct filch_sem {
    filch_lock_ lock_;
    void *waiters_;
    uint64_t count_;
} filch_sem;

/* clang-format off */
#define FILCH_SEM_INIT(n) {{{0, 0, 0, 0}}, NULL, (n)}
/* clang-format on */

/* Wait until the counter is at least 1 (or n), and subtract that.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0: subtracted.
 *     -ECANCELED: the fiber was cancelled.
 *     -ETIMEDOUT: calls with a deadline: it passed.
 *     -ENOMEM: calls with a deadline: no memory to wait with one. */
FILCH_API int filch_sem_wait(filch_sem *s);
FILCH_API int filch_sem_wait_until(filch_sem *s, int64_t deadline);
FILCH_API int filch_sem_wait_n(filch_sem *s, uint64_t n);
FILCH_API int filch_sem_wait_n_until(filch_sem *s, uint64_t n, int64_t deadline);

/* Subtract 1 from the counter if that needs no wait.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: 0: subtracted.
 *     -EAGAIN: the counter is 0, or there are waiters. */
FILCH_API int filch_sem_try_wait(filch_sem *s);

/* Add 1 (or n) to the counter.  A counter above 2^64 - 1 aborts the program.
 * Call from: any thread, fiber, task or job.  Blocks: nothing. */
FILCH_API void filch_sem_post(filch_sem *s);
FILCH_API void filch_sem_post_n(filch_sem *s, uint64_t n);

/* Read the counter, which may change at any time.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: the counter. */
FILCH_API uint64_t filch_sem_value(filch_sem *s);

/* ---- event ---- */

/* A flag to wait for.  With manual reset, filch_event_set lets all current and later waiters
 * through until filch_event_reset.  With auto reset, each filch_event_set lets one waiter through,
 * the longest one; sets without a waiter do not add up.  Zeroed memory has manual reset and is
 * not set. */
typedef struct filch_event {
    filch_lock_ lock_;
    void *waiters_;
    uint32_t is_set_, auto_reset_;
} filch_event;

/* clang-format off */
#define FILCH_EVENT_INIT {{{0, 0, 0, 0}}, NULL, 0, 0}
#define FILCH_EVENT_AUTO_INIT {{{0, 0, 0, 0}}, NULL, 0, 1}
/* clang-format on */

/* Set the event, and wake all waiters (manual reset) or the longest waiter (auto reset).  An event
 * with auto reset stays unset if a waiter was woken.
 * Call from: any thread, fiber, task or job.  Blocks: nothing. */
FILCH_API void filch_event_set(filch_event *e);

/* Reset the event: later waits wait.  Waiters that were woken before return nevertheless.
 * Call from: any thread, fiber, task or job.  Blocks: nothing. */
FILCH_API void filch_event_reset(filch_event *e);

/* Wait until the event is set.  With auto reset, the wait resets it.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0: the event was set.
 *     -ECANCELED: the fiber was cancelled.
 *     -ETIMEDOUT: filch_event_wait_until: the deadline passed.
 *     -ENOMEM: filch_event_wait_until: no memory to wait with a deadline. */
FILCH_API int filch_event_wait(filch_event *e);
FILCH_API int filch_event_wait_until(filch_event *e, int64_t deadline);

/* Do what filch_event_wait does if that needs no wait.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: 0: the event was set.
 *     -EAGAIN: it is not set. */
FILCH_API int filch_event_try_wait(filch_event *e);

/* Ask whether the event is set, which may change at any time.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: true: it is set. */
FILCH_API bool filch_event_is_set(filch_event *e);

/* ---- wait group ---- */

/* A counter that starts at 0.  filch_wait_group_wait returns when it is 0. */
typedef struct filch_wait_group {
    filch_lock_ lock_;
    void *waiters_;
    uint64_t count_;
} filch_wait_group;

/* Add n to the counter.  Call it before the work starts that is to be waited for.
 * Call from: any thread, fiber, task or job.  Blocks: nothing. */
FILCH_API void filch_wait_group_add(filch_wait_group *g, unsigned n);

/* Subtract 1 from the counter.  A counter below 0 aborts the program.
 * Call from: any thread, fiber, task or job.  Blocks: nothing. */
FILCH_API void filch_wait_group_done(filch_wait_group *g);

/* Wait until the counter is 0.  Then the wait group may be used again.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0: the counter was 0.
 *     -ECANCELED: the fiber was cancelled.
 *     -ETIMEDOUT: filch_wait_group_wait_until: the deadline passed.
 *     -ENOMEM: filch_wait_group_wait_until: no memory to wait with a deadline. */
FILCH_API int filch_wait_group_wait(filch_wait_group *g);
FILCH_API int filch_wait_group_wait_until(filch_wait_group *g, int64_t deadline);

/* ---- once ---- */

/* A function call that happens once. */
typedef struct filch_once {
    filch_lock_ lock_;
    void *waiters_;
    const void *runner_;
    uint32_t state_, reserved_;
} filch_once;

/* Call work(arg) if this is the first call, or else wait until that call has returned.  A cancelled
 * fiber still waits.  Calling it from work for the same object aborts the program.  If work is NULL
 * in the first call, a message says so, and that call does not count.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread. */
FILCH_API void filch_once_run(filch_once *o, void (*work)(void *arg), void *arg);

/* ---- barrier ---- */

/* A meeting point for n callers. */
typedef struct filch_barrier {
    filch_lock_ lock_;
    void *waiters_;
    uint32_t count_, reserved_;
} filch_barrier;

/* Wait until n callers have arrived.  Then the barrier may be used again.
 * n: the same number for all callers.  Another number, or 0, aborts the program.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 1 for one of the callers, 0 for the others.
 *     -ECANCELED: the fiber was cancelled.  It does not count as arrived.
 *     -ETIMEDOUT: filch_barrier_wait_until: the deadline passed.  The caller does not count as
 *         arrived.
 *     -ENOMEM: filch_barrier_wait_until: no memory to wait with a deadline. */
FILCH_API int filch_barrier_wait(filch_barrier *b, unsigned n);
FILCH_API int filch_barrier_wait_until(filch_barrier *b, unsigned n, int64_t deadline);

FILCH_END_DECLS

#endif
