/* Fibers: threads of execution that cost a few dozen nanoseconds, and block without blocking a worker.
 *
 *     #include <filch/fiber.h>
 *     #include <stdio.h>
 *
 *     static void *answer(void *arg)
 *     {
 *         return arg;
 *     }
 *
 *     static void main_fiber(void *arg)
 *     {
 *         filch_fiber *f = filch_fiber_start(answer, arg);
 *         void *result = NULL;
 *         if (f && filch_fiber_join(f, &result) == 0)
 *             puts((const char *)result);
 *     }
 *
 *     int main(void)
 *     {
 *         return filch_main(main_fiber, (void *)"hello from a fiber");
 *     }
 *
 * A fiber runs until it waits for something, or yields; then its worker goes on with another.  It may go on on another
 * worker, so what is thread-local (errno too) does not stay the same over a call that waits.
 *
 * Tasks and jobs run on fibers as well: what is said here of the calling fiber holds in them.
 */
#ifndef FILCH_FIBER_H
#define FILCH_FIBER_H

#include <filch/time.h>
#include <filch/version.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

FILCH_BEGIN_DECLS

typedef struct filch_fiber filch_fiber;

/* In C++, = {0} would otherwise warn that the other fields are missing. */
#ifdef __cplusplus
#define FILCH_FIBER_ZERO_ = {}
#else
#define FILCH_FIBER_ZERO_
#endif

/* How a fiber is to be.  Zero (or NULL) means: as all others. */
typedef struct filch_fiber_attr {
    /* What messages call it; not copied, so it must live as long as the fiber. */
    const char *name FILCH_FIBER_ZERO_;
    /* Bytes of its stack, 1g at most, rounded up to a power of two, 16k at least; 0: filch_config.stack_size. */
    size_t stack_size FILCH_FIBER_ZERO_;
} filch_fiber_attr;

/* Run body(arg) on a fiber of its own, now or soon, that nobody waits for.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: 0; -ENOMEM: it will not run.  With attributes also -EINVAL for a stack size that makes
 * no sense, and -ENOMEM when there is no memory for a stack of that size. */
FILCH_API int filch_go(void (*body)(void *arg), void *arg);
FILCH_API int filch_go_attr(const filch_fiber_attr *attr, void (*body)(void *arg), void *arg);

/* The same with a handle, and with a result.  The handle is yours until you join or detach, also
 * after filch_stop.  Using a handle after it was joined or detached aborts the program with a
 * message that names the call.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: the handle; NULL: no memory, or attributes that make no sense. */
FILCH_API filch_fiber *filch_fiber_start(void *(*body)(void *arg), void *arg);
FILCH_API filch_fiber *filch_fiber_start_attr(const filch_fiber_attr *attr,
                                              void *(*body)(void *arg), void *arg);

/* Wait until it has ended.  result, if not NULL, gets what its body returned.  Then the handle is gone.
 * Call from: any thread or fiber, one at most for each handle.  Blocks: the fiber or the thread.
 * Returns: 0; -EDEADLK for oneself; -ECANCELED when the caller was cancelled meanwhile; -EINVAL for NULL.
 * filch_fiber_join_until: also -ETIMEDOUT.  After an error the handle is still yours. */
FILCH_API int filch_fiber_join(filch_fiber *f, void **result);
FILCH_API int filch_fiber_join_until(filch_fiber *f, void **result, int64_t deadline);

/* Detach the fiber: it cannot be joined any more, and the handle is gone.  NULL: nothing happens.
 * Call from: any thread or fiber.  Blocks: nothing. */
FILCH_API void filch_fiber_detach(filch_fiber *f);

/* Cancel the fiber: its current and later cancellable waits return -ECANCELED.  Cancellable are sleeps,
 * joins, channels, sockets, and all waits with a deadline.  filch_mutex_lock, other waits that cannot
 * fail, and waits for a job or a task are not interrupted.  NULL: nothing happens.
 * The cancellation reaches the tasks that the fiber has spawned, and their tasks, also where other
 * workers run them.  It does not reach fibers, jobs and groups that the fiber has started.
 * A fiber of filch_go has no handle until it calls filch_fiber_self: tasks that others stole before
 * that are not reached.
 * Call from: any thread or fiber that has the handle.  Blocks: nothing. */
FILCH_API void filch_fiber_cancel(filch_fiber *f);

/* Was the calling fiber cancelled?  In a task: was the fiber that spawned it cancelled?
 * filch_fiber_uncancel: end the cancellation of the fiber and of all its tasks, which may wait
 * again.
 * Call from: any thread (which never is) or fiber.  Blocks: nothing. */
FILCH_API bool filch_fiber_is_cancelled(void);
FILCH_API bool filch_fiber_uncancel(void);

/* Let others that are ready run first.
 * Call from: any thread or fiber.  Blocks: nothing. */
FILCH_API void filch_yield(void);

/* The handle of the calling fiber, for comparisons, names and messages.  In a stolen task it is the
 * handle of the fiber that runs the task.  It is valid while the fiber runs, and is not yours to
 * join or detach unless you started the fiber.
 * Call from: any thread or fiber.  Blocks: nothing.  Returns: NULL in a thread that is no fiber; NULL without memory. */
FILCH_API filch_fiber *filch_fiber_self(void);

/* What messages call the calling fiber; not copied.  filch_fiber_name(NULL): the calling fiber's; NULL: it has none.
 * Call from: any thread or fiber.  Blocks: nothing. */
FILCH_API void filch_fiber_set_name(const char *name);
FILCH_API const char *filch_fiber_name(const filch_fiber *f);

/* ---- fiber-local storage ---- */

#define FILCH_FLS_MAX 128

/* Create a key of fiber-local storage.  Each fiber, and each thread that is not a worker, has its own
 * value under the key, NULL at first.
 * destroy: NULL, or a destructor.  When a fiber or thread ends it is called with each value that is
 *     not NULL.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: the key, 0 or more; -EAGAIN: FILCH_FLS_MAX keys exist already. */
FILCH_API int filch_fls_new(void (*destroy)(void *value));

/* Free a key.  Its destructor is not called: values that fibers and threads still hold under the key
 * are dropped, and they do not appear under a later key.  A fiber or thread that ends during this
 * call may still call the destructor.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: 0; -EINVAL: the key does not exist. */
FILCH_API int filch_fls_free(int key);

/* Get the caller's value.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: the value; NULL: none was set, or the key does not exist. */
FILCH_API void *filch_fls_get(int key);

/* Set the caller's value.  The destructor is not called for the value that was there before.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: 0; -EINVAL: the key does not exist; -ENOMEM: the value is as before. */
FILCH_API int filch_fls_set(int key, void *value);

/* ---- programs ---- */

/* Run body(arg) on a fiber, wait for it, and stop the runtime, which waits for all other fibers.
 * Call from: any thread that is no worker.  Blocks: the thread.
 * Returns: 0; -EDEADLK from a fiber; -ENOMEM. */
FILCH_API int filch_main(void (*body)(void *arg), void *arg);

FILCH_END_DECLS

#endif
