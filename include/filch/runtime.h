/* The runtime: as many workers as the process may use CPUs, started when they are first needed, or
 * here, to your taste.
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
 *         return e == 0 && filch_stop() == 0 ? 0 : 1;
 *     }
 */
#ifndef FILCH_RUNTIME_H
#define FILCH_RUNTIME_H

#include <filch/version.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

FILCH_BEGIN_DECLS

#define FILCH_WORKERS_MAX 1024

typedef enum filch_publish {
    FILCH_PUBLISH_DEFAULT,
    FILCH_PUBLISH_LAZY,  /* tasks stay private until somebody is hungry */
    FILCH_PUBLISH_EAGER, /* each spawn goes to the deque at once, as in a classical scheduler */
} filch_publish;

typedef enum filch_affinity {
    FILCH_AFFINITY_DEFAULT,
    FILCH_AFFINITY_NONE, /* the kernel places the workers */
    FILCH_AFFINITY_CPU, /* each worker stays on one CPU, the first on the first this process may use.  If
                       the system refuses that, the workers run unpinned and a message says so */
} filch_affinity;

typedef enum filch_caller_runs {
    FILCH_CALLER_RUNS_DEFAULT,
    FILCH_CALLER_RUNS_YES, /* who calls FILCH_RUN runs the task itself while a worker sleeps */
    FILCH_CALLER_RUNS_NO,  /* tasks run in the workers' own threads only */
} filch_caller_runs;

typedef enum filch_deadlock {
    FILCH_DEADLOCK_DEFAULT,
    FILCH_DEADLOCK_ABORT, /* fibers that nothing can wake are listed on stderr, and abort() ends the program */
    FILCH_DEADLOCK_REPORT, /* they are listed, and the program goes on */
    FILCH_DEADLOCK_OFF,
} filch_deadlock;

/* In C++, = {0} would otherwise warn that the other fields are missing. */
#ifdef __cplusplus
#define FILCH_ZERO_ = {}
#else
#define FILCH_ZERO_
#endif

/* Zero (or NULL) means: take the value from the environment, else the default.  A set-uid program
 * ignores the environment. */
typedef struct filch_config {
    /* FILCH_WORKERS: 1 to FILCH_WORKERS_MAX; default filch_cpu_count() */
    unsigned workers FILCH_ZERO_;
    /* FILCH_AFFINITY: none or cpu; default none */
    filch_affinity affinity FILCH_ZERO_;
    /* FILCH_STACK_SIZE: bytes of a fiber's stack, rounded up to pages, in the environment also with k, m or
     * g behind the number; 16k to 1g; default 256k */
    size_t stack_size FILCH_ZERO_;
    /* FILCH_DEQUE: locked, bounded, batch or half; default batch */
    const char *deque FILCH_ZERO_;
    /* FILCH_STEAL_BATCH: the most tasks that one steal takes, 1 to 64; default 16, where the deque can
     * give several */
    unsigned steal_batch FILCH_ZERO_;
    /* FILCH_PUBLISH: lazy or eager; default lazy */
    filch_publish publish FILCH_ZERO_;
    /* FILCH_SEARCH_NS: how long a worker without work looks for some before it sleeps, up to 1 s;
     * negative (in the environment: 0): a few looks around; default 20000 */
    int64_t search_ns FILCH_ZERO_;
    /* FILCH_CALLER_RUNS: yes or no; default yes, but pinned workers have none */
    filch_caller_runs caller_runs FILCH_ZERO_;
    /* FILCH_NAME: what the threads are called, to 10 letters; default filch */
    const char *name FILCH_ZERO_;
    /* FILCH_WATCHDOG_MS (in milliseconds): a fiber started by filch_go or filch_fiber_start that keeps its worker for
     * so long, and neither waits nor yields, is named on stderr, and counted; time in which its thread waits for a CPU
     * does not count; up to 1 h; negative (in the environment: 0): never; default 10 ms */
    int64_t watchdog_ns FILCH_ZERO_;
    /* FILCH_DEADLOCK: abort, report or off; default abort.  Fibers are only said to be deadlocked when nothing can wake
     * them: no timer, no socket, and no thread that Filch does not know to be waiting itself */
    filch_deadlock deadlock FILCH_ZERO_;
    /* FILCH_DUMP_SIGNAL: a number, or a name such as QUIT or USR1: this signal writes to stderr what all fibers do
     * (filch_dump); default none, as signals are the program's own */
    int dump_signal FILCH_ZERO_;
    /* FILCH_BLOCKING_THREADS: the most threads that run calls which block (filch_run_blocking), 1 to 16384; default 64 */
    unsigned blocking_threads FILCH_ZERO_;
    /* FILCH_STATS: 0 or 1: a table of what the workers did, on stderr, when the runtime stops; default 0 */
    bool stats FILCH_ZERO_;
    /* FILCH_TOP: 0 or 1: let filch top look at this process; default 0 */
    bool top FILCH_ZERO_;
    /* FILCH_TRACE: a file for what the workers do and when, for ui.perfetto.dev; default none */
    const char *trace FILCH_ZERO_;
    /* FILCH_TRACE_MS (in milliseconds): of that, only the last so many, and also when something is wrong; up to 1 h;
     * default 0: all that there is room for */
    int64_t trace_ns FILCH_ZERO_;
} filch_config;

/* Start the runtime.  NULL is a config of zeros.  Without this call, the first use starts it.
 * Tasks from outside, and tasks that another worker took, begin with the floating-point modes
 * (rounding, traps, flush to zero) of the thread that starts the runtime.
 * After a fork() there is no runtime in the child, and it may start one.  A fiber that calls fork()
 * goes on in the child; when its task ends there, so does the child, with status 0 and without
 * atexit() handlers.  Fibers and jobs of the parent do not run in the child, and must not be waited
 * for there.  A mutex, channel or other object that another thread was using at the fork stays in
 * the child as it was then, and may stay locked.
 * Call from: any thread that is no worker.  Blocks: the thread, for some 50 microseconds.
 * Returns: 0; -EINVAL for nonsense in config or environment, which a line on stderr names; -EBUSY when
 * it runs already; -EDEADLK from a fiber; -ENOMEM, -EAGAIN (no more threads), or what else the system
 * says.  After a failure all is as before. */
FILCH_API int filch_start(const filch_config *config);

/* Wait for what was begun, jobs that nobody waits for among it (who comes meanwhile waits for the stop), then end the workers and give all memory back.  Starting again is fine.
 * Call from: any thread that is no worker.  Blocks: the thread.
 * Returns: 0, also when nothing ran; -EDEADLK from a fiber. */
FILCH_API int filch_stop(void);

/* How many workers run.
 * Call from: any thread or fiber, not from a signal handler.  Blocks: the thread, while the runtime is being
 * started or stopped.  Returns: 0 while no runtime runs. */
FILCH_API unsigned filch_worker_count(void);

/* Count the CPUs that this process may use.  These are the CPUs in the affinity mask of its main
 * thread, or fewer if a CPU quota of its cgroup or of an ancestor cgroup (v1 and v2) allows less.  A
 * quota is rounded up to whole CPUs.  The mask and the quotas are read again at each call.
 * A mask that cannot be read counts as one CPU.  A quota that cannot be read does not limit.
 * Call from: any thread or fiber.  Blocks: the thread, while it reads a few files in /proc and /sys.
 * Returns: 1 or more. */
FILCH_API unsigned filch_cpu_count(void);

FILCH_END_DECLS

#endif
