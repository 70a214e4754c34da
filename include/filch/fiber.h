/* Fibers: threads of execution that cost a few dozen nanoseconds, and wait without blocking a
 * worker.
 *
 *     #include <filch/fiber.h>
 *     #include <stdio.h>
 *
 *     static void *answer(void *arg)
 *     {
 *         return arg;
 *     }
 *
 *     static int main_fiber(int argc, char **argv)
 *     {
 *         filch_fiber *f = filch_fiber_start(answer, argv[argc - 1]);
 *         void *result = NULL;
 *         if (!f || filch_fiber_join(f, &result) != 0)
 *             return 1;
 *         puts((const char *)result);
 *         return 0;
 *     }
 *
 *     int main(int argc, char **argv)
 *     {
 *         return filch_main(main_fiber, argc, argv);
 *     }
 *
 * A fiber runs until it waits or yields.  Then its worker runs another fiber.  The fiber may
 * continue on another worker, so thread-local variables, errno among them, may differ after a
 * call that waits.  A fiber that uses a library with thread-local state (OpenGL, JNI, OpenMP) can
 * be started with the attribute `bound`.  It always continues on the same thread.  Other fibers of
 * that thread use the same thread-local variables.
 *
 * Tasks and jobs run on fibers, too.  "The calling fiber" is then the fiber that runs them.
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

/* Attributes of a fiber.  Zero, or NULL for the whole struct, means the default. */
typedef struct filch_fiber_attr {
    /* The name for messages.  The string is not copied, and must stay valid as long as the
     * fiber. */
    const char *name FILCH_ZERO_;
    /* Bytes of the stack, at most 1 GiB, rounded up to a power of two that is at least 16 KiB; 0:
     * filch_config.stack_size. */
    size_t stack_size FILCH_ZERO_;
    /* True: the fiber runs on one thread, from its start to its end.  The thread is that of a
     * worker, which the start chooses: the one with the fewest bound fibers.  No other worker can
     * help: while another fiber keeps that worker, the bound fiber waits.  Tasks that it spawns run
     * anywhere. */
    bool bound FILCH_ZERO_;
} filch_fiber_attr;

/* The inline functions pass the size of the struct that the program was compiled with. */
FILCH_API int filch_go_attr_(const filch_fiber_attr *attr, size_t size, void (*body)(void *arg),
                             void *arg);
FILCH_API filch_fiber *filch_fiber_start_attr_(const filch_fiber_attr *attr, size_t size,
                                               void *(*body)(void *arg), void *arg);

/* Start a detached fiber that runs body(arg).
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: 0: the fiber was started.
 *     -ENOMEM: there is no memory.
 *     -EINVAL: filch_go_attr: stack_size is too large, or body is NULL.
 *     Other errors are those of filch_start, if the runtime cannot be started. */
FILCH_API int filch_go(void (*body)(void *arg), void *arg);
static inline int filch_go_attr(const filch_fiber_attr *attr, void (*body)(void *arg), void *arg)
{
    return filch_go_attr_(attr, sizeof *attr, body, arg);
}

/* Start a fiber that runs body(arg), and get its handle.  The caller owns the handle until it
 * joins or detaches the fiber, also after filch_stop.  Using the handle after that aborts the
 * program with a message that names the call.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: the handle; NULL: there is no memory, stack_size is too large, body is NULL, or the
 *     runtime cannot be started.  A message names a wrong argument. */
FILCH_API filch_fiber *filch_fiber_start(void *(*body)(void *arg), void *arg);
static inline filch_fiber *filch_fiber_start_attr(const filch_fiber_attr *attr,
                                                  void *(*body)(void *arg), void *arg)
{
    return filch_fiber_start_attr_(attr, sizeof *attr, body, arg);
}

/* Wait until the fiber has ended, and free the handle.  After an error the handle is still valid.
 * result: NULL, or where to store the value that body returned.
 * Call from: any thread or fiber, but at most one per handle.  Blocks: the fiber or the thread.
 * Returns: 0: the fiber has ended.
 *     -EINVAL: f is NULL.
 *     -EDEADLK: f is the calling fiber.
 *     -ECANCELED: the calling fiber was cancelled.
 *     -ETIMEDOUT: filch_fiber_join_until: the deadline passed.
 *     -ENOMEM: filch_fiber_join_until: no memory to wait with a deadline. */
FILCH_API int filch_fiber_join(filch_fiber *f, void **result);
FILCH_API int filch_fiber_join_until(filch_fiber *f, void **result, int64_t deadline);

/* Detach the fiber: it cannot be joined any more, and the handle is freed.  NULL is allowed.
 * Call from: any thread or fiber.  Blocks: nothing. */
FILCH_API void filch_fiber_detach(filch_fiber *f);

/* Cancel the fiber.  Its current and later cancellable waits return -ECANCELED.  filch-cancel(7)
 * lists all waits.  If the fiber waits for a group or a job, it cancels that, and still waits.
 * NULL is allowed.
 * The cancellation reaches the tasks that the fiber has spawned, and their tasks, also where other
 * workers run them.  It does not reach fibers that the fiber has started.
 * A fiber of filch_go has no handle until it calls filch_fiber_self.  Tasks that were stolen before
 * that are not reached.
 * Call from: any thread or fiber that has the handle.  Blocks: nothing. */
FILCH_API void filch_fiber_cancel(filch_fiber *f);

/* Ask whether the calling fiber is cancelled, or the group or job whose work it runs.  In a task:
 * whether the fiber that spawned it is.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: true: it is cancelled; false in a thread that is not a worker. */
FILCH_API bool filch_fiber_is_cancelled(void);

/* End the cancellation of the calling fiber and of all its tasks, which may wait again.  The group
 * or job of the caller stays cancelled.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: true: it was cancelled; false in a thread that is not a worker. */
FILCH_API bool filch_fiber_uncancel(void);

/* Let other ready fibers run first.
 * Call from: any thread or fiber.  Blocks: nothing. */
FILCH_API void filch_yield(void);

/* Get the handle of the calling fiber, for comparisons, names and messages.  In a stolen task it is
 * the handle of the fiber that runs the task.  It is valid while the fiber runs.  Do not join or
 * detach it, unless you started the fiber.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: the handle; NULL: the caller is not a fiber, or there is no memory. */
FILCH_API filch_fiber *filch_fiber_self(void);

/* Set the name of the calling fiber for messages.  The string is not copied.  NULL removes the
 * name.
 * Call from: any thread or fiber.  Blocks: nothing. */
FILCH_API void filch_fiber_set_name(const char *name);

/* Get the name of a fiber.
 * f: NULL means the calling fiber.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: the name; NULL: the fiber has none, or f is NULL and the caller is not a fiber. */
FILCH_API const char *filch_fiber_name(const filch_fiber *f);

/* ---- fiber-local storage ---- */

#define FILCH_FLS_MAX 128 /* keys at a time */

/* Create a key of fiber-local storage.  Each fiber, and each thread that is not a worker, has its
 * own value under the key, NULL at first.
 * destroy: NULL, or a destructor.  When a fiber or thread ends it is called with each value that is
 *     not NULL.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: the key, 0 or more.
 *     -EAGAIN: FILCH_FLS_MAX keys exist already. */
FILCH_API int filch_fls_new(void (*destroy)(void *value));

/* Free a key.  Its destructor is not called: values that fibers and threads still hold under the
 * key are dropped, and they do not appear under a later key.  A fiber or thread that ends during
 * this call may still call the destructor.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: 0.
 *     -EINVAL: the key does not exist. */
FILCH_API int filch_fls_free(int key);

/* Get the caller's value.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: the value; NULL: none was set, or the key does not exist. */
FILCH_API void *filch_fls_get(int key);

/* Set the caller's value.  The destructor is not called for the value that was there before.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: 0.
 *     -EINVAL: the key does not exist.
 *     -ENOMEM: there is no memory.  The value is as before. */
FILCH_API int filch_fls_set(int key, void *value);

/* ---- programs ---- */

/* Run main_fiber(argc, argv) on a fiber named "main", between a filch_start and a filch_stop, which
 * waits for all other fibers unless another caller holds the runtime.
 * Call from: any thread that is not a worker.  Blocks: the thread.
 * Returns: the exit status of the program, which is the result of main_fiber.
 *     EXIT_FAILURE: main_fiber is NULL, the caller is a fiber, or the runtime or the fiber cannot
 *         be started.
 *         main_fiber was not called, and a message says why. */
FILCH_API int filch_main(int (*main_fiber)(int argc, char **argv), int argc, char **argv);

FILCH_END_DECLS

#endif
