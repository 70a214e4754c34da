/* The runtime and its settings.  It starts at the first use, with one worker per CPU that the
 * process may use.  filch_start starts it with other settings.
 *
 *     #include <filch/runtime.h>
 *     #include <stdio.h>
 *     #include <string.h>
 *
 *     int main(void)
 *     {
 *         filch_config config = {0};
 *         config.workers = 2;
 *         int e = filch_start(&config);
 *         if (e < 0)
 *             fprintf(stderr, "no runtime: %s\n", strerror(-e));
 *         return e >= 0 && filch_stop() >= 0 ? 0 : 1;
 *     }
 */
#ifndef FILCH_RUNTIME_H
#define FILCH_RUNTIME_H

#include <filch/message.h>
#include <filch/version.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

FILCH_BEGIN_DECLS

#define FILCH_WORKERS_MAX 1024

typedef enum filch_affinity {
    FILCH_AFFINITY_DEFAULT,
    FILCH_AFFINITY_NONE, /* the kernel places the workers */
    FILCH_AFFINITY_CPU,  /* each worker is pinned to one CPU, if the system allows it */
} filch_affinity;

typedef enum filch_caller_runs {
    FILCH_CALLER_RUNS_DEFAULT,
    FILCH_CALLER_RUNS_YES, /* the caller of FILCH_RUN runs the task if a worker sleeps */
    FILCH_CALLER_RUNS_NO,  /* tasks run in the workers' own threads only */
} filch_caller_runs;

typedef enum filch_deadlock {
    FILCH_DEADLOCK_DEFAULT,
    FILCH_DEADLOCK_ABORT,  /* list the deadlocked fibers and abort the program */
    FILCH_DEADLOCK_REPORT, /* list them, once for each deadlock, and continue */
    FILCH_DEADLOCK_OFF,
} filch_deadlock;

/* Settings.  A field that is zero or NULL is taken from its environment variable, and otherwise has
 * its default.  A wrong variable is named by a message and ignored, unless FILCH_STRICT is 1.
 * filch(7) lists more variables, for tools.  A set-uid program ignores the environment. */
typedef struct filch_config {
    /* FILCH_WORKERS: the number of workers, 1 to FILCH_WORKERS_MAX; default filch_cpu_count() */
    unsigned workers FILCH_ZERO_;
    /* FILCH_AFFINITY: none or cpu; default none */
    filch_affinity affinity FILCH_ZERO_;
    /* FILCH_STACK_SIZE: bytes of a fiber's stack, 16k to 1g, rounded up to pages; default 256k.
     * The variable may end in k, m or g */
    size_t stack_size FILCH_ZERO_;
    /* FILCH_CALLER_RUNS: yes or no; default yes.  With affinity cpu it is always no */
    filch_caller_runs caller_runs FILCH_ZERO_;
    /* FILCH_NAME: the name of the threads, up to 10 letters; default filch */
    const char *name FILCH_ZERO_;
    /* FILCH_WATCHDOG_MS (milliseconds): a fiber of filch_go or filch_fiber_start that keeps its
     * worker for this time, without a wait or a yield, is counted and named on stderr.  Time in
     * which its thread waits for a CPU does not count.  Up to 1 h; negative (0 in the
     * environment): off; default 10 ms */
    int64_t watchdog_ns FILCH_ZERO_;
    /* FILCH_DEADLOCK: abort, report or off; default report.  Waiting fibers are deadlocked if
     * no timer, no descriptor and no thread can wake them.  Threads that wait in a call of Filch
     * themselves do not count */
    filch_deadlock deadlock FILCH_ZERO_;
    /* FILCH_DUMP_SIGNAL: the number or the name (QUIT, USR1) of a signal that calls filch_dump for
     * stderr; default none */
    int dump_signal FILCH_ZERO_;
    /* FILCH_BLOCKING_THREADS: the maximum number of threads for blocking calls
     * (filch_run_blocking), 1 to 16384; default 64 */
    unsigned blocking_threads FILCH_ZERO_;
    /* FILCH_STATS: 0 or 1; 1: write a table of the counters to stderr when the runtime stops;
     * default 0 */
    bool stats FILCH_ZERO_;
    /* FILCH_TRACE: a file for a trace of all events, for ui.perfetto.dev; default none */
    const char *trace FILCH_ZERO_;
    /* FILCH_TRACE_MS (milliseconds): trace only the last part of this length, and write the file
     * also when a fiber keeps its worker too long; up to 1 h; default 0: all events that fit */
    int64_t trace_ns FILCH_ZERO_;
    /* Called in the thread of each worker: on_worker_start before the thread runs work, and
     * on_worker_stop after its last work.  filch_start does not wait for on_worker_start, and
     * filch_stop waits for on_worker_stop.  A thread that runs its own task as a worker
     * (caller_runs) does not call them.  A program that needs them for all work sets caller_runs to
     * FILCH_CALLER_RUNS_NO.  Not called: in the child of a fork(), and on_worker_stop if the
     * process ends while work is left.
     * A hook is not a fiber, and filch_worker_index returns -1 in it.  It may call filch_alloc,
     * filch_free, filch_now, filch_cpu_count and filch_version.  Other functions of Filch may wait
     * for the start or the stop that waits for the hook */
    void (*on_worker_start)(unsigned index, void *ctx) FILCH_ZERO_;
    void (*on_worker_stop)(unsigned index, void *ctx) FILCH_ZERO_;
    void *worker_ctx FILCH_ZERO_; /* passed to both */
} filch_config;

#ifdef FILCH_SERIAL
#include <filch/serial/runtime.h>
#else

/* The inline function passes the size of the struct that the program was compiled with. */
FILCH_API int filch_start_(const filch_config *config, size_t size);

/* Hold the runtime.  It is started if it is not running.  Each library of a program calls this and
 * filch_stop for itself.  The settings are those of the first call.  Without this call, the first
 * use starts the runtime with default settings, and holds it for the program.
 * Tasks from outside and stolen tasks start with the floating-point modes (rounding, traps, flush
 * to zero) of the thread that starts the runtime.
 * The child of a fork() has no runtime, and may start one.  A fiber that calls fork() continues
 * in the child.  When its task ends there, the child exits with status 0 and without atexit()
 * handlers.  Fibers and jobs of the parent do not run in the child, and must not be waited for
 * there.  A mutex, channel or other object that another thread was using at the fork stays in the
 * child as it was, and may stay locked.
 * config: NULL means a config of zeros.
 * Call from: any thread or fiber.  Blocks: the thread, for some 50 microseconds.
 * Returns: 0: the runtime was started.
 *     1: the runtime was running, and config was not used.
 *     -EINVAL: a field of config is wrong, or a variable with FILCH_STRICT=1.  A message names it.
 *     -EDEADLK: the caller is a fiber, and the runtime is being stopped.
 *     -ENOMEM: there is no memory.
 *     -EAGAIN: no thread can be created.  If some can, there are fewer workers, and a message says
 *         so.
 *     Other errors are those of the system.  After an error the runtime is not running. */
static inline int filch_start(const filch_config *config)
{
    return filch_start_(config, sizeof *config);
}

/* Release the runtime, once for each filch_start that returned 0 or 1.  A program may release a
 * runtime that started by itself, once, too.  The last release waits for all started work,
 * including detached fibers and released jobs, stops the workers and frees all memory.  Job handles
 * are invalid afterwards.  Calls made meanwhile block until the stop completes.  The runtime may be
 * started again.  At exit it is stopped without a release.
 * Call from: any thread or fiber.  Blocks: the thread, if the release is the last one.
 * Returns: 0: the runtime is not running now.
 *     1: another caller holds the runtime, and work may still run.
 *     -EDEADLK: the caller is a fiber, and holds the runtime alone.  It was not released. */
FILCH_API int filch_stop(void);

/* Get the number of workers.
 * Call from: any thread or fiber, not a signal handler.  Blocks: the thread, while the runtime is
 *     being started or stopped.
 * Returns: the number; 0: the runtime is not running. */
FILCH_API unsigned filch_worker_count(void);

/* Get the index of the worker that runs the caller: 0 to filch_worker_count() - 1.  It is valid
 * until the next call that may wait or yield, because a fiber may continue on another worker.  A
 * thread that runs its own task as a worker (filch_config.caller_runs) has the index of that worker
 * meanwhile.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: the index; -1: the caller does not run on a worker. */
FILCH_API int filch_worker_index(void);

#endif

/* ---- per-worker data ---- */

/* An object of the same type for each worker, in cache lines of its own. */
typedef struct filch_per_worker filch_per_worker;

/* Create per-worker data.  The runtime need not run.
 * size: bytes of each object.
 * init: NULL, or initialises an object, which is zeroed.  It is called at the first
 *     filch_per_worker_get of the worker, on that worker.
 * fini: NULL, or ends an object.  filch_per_worker_free calls it for each.
 * ctx: passed to init and fini.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: the data; NULL: there is no memory, or size is 0 or too large, and then a message says
 *     so. */
FILCH_API filch_per_worker *filch_per_worker_new(size_t size, void (*init)(void *object, void *ctx),
                                                 void (*fini)(void *object, void *ctx), void *ctx);

/* Get the object of the worker that runs the caller.  Use it only until the next call that may wait
 * or yield: then another fiber of the worker may use it.
 * A worker keeps its object when the runtime is stopped and started again, by its index.  A thread
 * that is not a worker gets an object of its own, which stays when the thread ends.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: the object, aligned to 128 bytes; NULL: there is no memory for it, or data is NULL, and
 *     then a message says so. */
FILCH_API void *filch_per_worker_get(filch_per_worker *data);

/* Call visit for each object that filch_per_worker_get has returned: those of workers in the order
 * of their indices, then those of other threads.  No thread may use an object meanwhile.
 * visit: may call filch_per_worker_get, but not filch_per_worker_free.
 * If data or visit is NULL, a message says so, and the call does nothing.
 * Call from: any thread or fiber.  Blocks: nothing. */
FILCH_API void filch_per_worker_each(filch_per_worker *data, void (*visit)(void *object, void *ctx),
                                     void *ctx);

/* End and free all objects, and the data.  No thread may use an object meanwhile.  NULL is allowed.
 * Call from: any thread or fiber.  Blocks: nothing. */
FILCH_API void filch_per_worker_free(filch_per_worker *data);

/* ---- machine ---- */

/* Count the CPUs that this process may use.  These are the CPUs in the affinity mask of its main
 * thread, or fewer if a CPU quota of its cgroup or of an ancestor cgroup (v1 and v2) allows less.
 * A quota is rounded up to whole CPUs.  The mask and the quotas are read again at each call.
 * A mask that cannot be read counts as one CPU.  A quota that cannot be read does not limit.
 * Call from: any thread or fiber.  Blocks: the thread, while it reads a few files in /proc and
 *     /sys.
 * Returns: 1 or more. */
#ifndef FILCH_SERIAL
FILCH_API unsigned filch_cpu_count(void);
#endif

FILCH_END_DECLS

#endif
