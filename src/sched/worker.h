/* A worker: a thread and its queues.  A runtime: its workers and what they share.
 *
 * This header is the map of the scheduler.  Each part of the two structs has its own file. */
#ifndef FI_SCHED_WORKER_H
#define FI_SCHED_WORKER_H

#include "base/compiler.h"
#include "base/counter.h"
#include "base/event_ring.h"
#include "base/intern.h"
#include "base/record_pool.h"
#include "base/rng.h"
#include "base/timer_heap.h"
#include "base/tls.h"
#include "deque/deque.h"
#include "sched/config.h"
#include "sched/fiber.h"
#include "sched/idle.h"
#include "sched/poller.h"
#include "sched/runq.h"
#include "sched/search_time.h"
#include "sched/shared_queue.h"
#include "sched/watchdog.h"
#include "stack/stack.h"

#include <pthread.h>
#include <stdbool.h>

typedef struct fi_runtime fi_runtime;

/* What a worker counts.  Written by the worker alone, read by any thread; the deque counts for
 * itself (deque/deque.h). */
typedef struct fi_counters {
    fi_counter spawned;
    fi_counter published;
    fi_counter claimed_back;
    fi_counter taken; /* published tasks that another worker ran */
    fi_counter steals_single;
    fi_counter steals_multiple;
    fi_counter steals_failed;
    fi_counter stolen;
    fi_counter deque_steals_single; /* these five: from deques only */
    fi_counter deque_steals_single_failed;
    fi_counter deque_steals_multiple;
    fi_counter deque_steals_multiple_failed;
    fi_counter deque_stolen;
    fi_counter parks;
    fi_counter wakes;
    fi_counter sleeps;
    fi_counter searches;
    fi_counter jobs_given; /* jobs and functions of groups: submitted, ended */
    fi_counter jobs_ended;
    fi_counter starts_given; /* fibers: submitted, ended */
    fi_counter starts_ended;
    fi_counter fibers_created;
    fi_counter fibers_reused;
} fi_counters;

#define FI_DIRECT_SWITCH_MAX 15u

/* The thread that is attached to a worker.  The worker's own thread stays attached while the
 * runtime runs.  A calling thread that runs its own task borrows the worker while that thread
 * sleeps (sched/caller_runs.h). */
typedef struct fi_worker_thread {
    fi_ctx sched_ctx; /* the thread's own stack, on which find_work.c runs */
    fi_cxx_exceptions sched_cxx;
    fi_cxx_exceptions *cxx; /* the thread's C++ state; NULL: no C++ */
    fi_overflow_handler *overflow;
    bool has_overflow_handler;       /* without it an overflow is a plain SIGSEGV */
    FI_ATOMIC(uint32_t) * stop_flag; /* not 0: the thread must detach */
    bool is_borrower;
    uint32_t direct_switch_max; /* picks in a row on fibers' stacks; 0 for a borrower */
    int clock;                  /* of the thread (base/thread_time.h); 0: not needed */
    fi_fiber *root_fiber;       /* of a borrower: the fiber of its own task */
} fi_worker_thread;

/* [the thread] The overflow handler is the worker's, and keeps its memory for the next thread. */
void fi_worker_thread_init(fi_worker_thread *s, fi_overflow_handler *overflow,
                           FI_ATOMIC(uint32_t) * stop_flag);
void fi_worker_thread_fini(fi_worker_thread *s);

/* [the thread] Must it detach? */
static inline bool fi_worker_thread_must_stop(const fi_worker_thread *s)
{
    return fi_load_relaxed(s->stop_flag) != 0;
}

/* Classes of records (base/record_pool.h). */
typedef enum fi_record_class {
    FI_RECORD_SMALL,  /* tickets, starts of detached fibers, functions of groups, edges of jobs */
    FI_RECORD_HANDLE, /* handles of fibers, which may outlive the runtime */
    FI_RECORD_JOB,
    FI_RECORD_CLASSES,
} fi_record_class;

#define FI_RECORD_SIZE(class) ((size_t)FI_CACHE_LINE << (class))

#define FI_STACK_SIZES 17 /* powers of two from 16 KiB to 1 GiB */

/* fi_worker.hook_mask: which consumers the tracepoints have (sched/tracepoint.h).
 * FI_HOOK_BOUND, only in ready_mask: there are or were bound fibers (sched/bound.h). */
enum { FI_HOOK_TRACE = 1, FI_HOOK_SPAN = 2, FI_HOOK_BOUND = 4 };

/* fi_worker.pick_first: what the next pick prefers to ready fibers.
 * UNSTARTED: a fiber has yielded.  BOUND: the worker has bound fibers, which take turns with other
 * work. */
enum { FI_PICK_UNSTARTED = 1, FI_PICK_BOUND = 2 };

/* What must be done for a fiber after it has left its stack.  The scheduler does it, or the fiber
 * that runs next on this worker.  Each switch of a fiber sets it. */
typedef struct fi_after_switch {
    enum { FI_AFTER_UNLOCK, FI_AFTER_CALL, FI_AFTER_RELEASE } kind;
    uint32_t lock_id;                         /* UNLOCK: of the holder */
    fi_biased_lock *lock;                     /* UNLOCK */
    bool (*callback)(fi_fiber *f, void *arg); /* CALL */
    void *arg;
} fi_after_switch;

struct fi_worker {
    /* Fixed while the runtime runs. */
    fi_runtime *runtime;
    unsigned index;
    fi_deque *deque; /* unstarted work: tickets, jobs, fibers.  LIFO for the worker */
    pthread_t thread;

    /* Written by the worker, read by thieves. */
    FI_CACHE_ALIGNED FI_ATOMIC(fi_task_bounds *) current; /* of the running fiber */
    FI_ATOMIC(fi_task_bounds *) leaving;   /* of a fiber that is being switched out */
    FI_ATOMIC(const void *) syscall_guard; /* io: the descriptor of the current system call */
    /* 1 and the times in a row that the worker itself took unstarted work.  0: the newest unstarted
     * work is published tasks.  A hint, so all accesses are relaxed. */
    FI_ATOMIC(uint32_t) unstarted_streak;

    /* Ready fibers: pushed by the worker, taken by all workers. */
    fi_runq ready;

    /* Timers: added by the worker, fired by all workers, removed by any thread. */
    FI_CACHE_ALIGNED fi_timer_heap timers;

    /* Written by any thread. */
    FI_CACHE_ALIGNED fi_shared_queue inbox;
    fi_shared_queue bound_ready; /* bound fibers of this worker: ready or unstarted */
    fi_sleeper sleeper;

    /* Used by the worker alone. */
    FI_CACHE_ALIGNED fi_worker_thread *attached; /* the thread that runs it */
    uint32_t hook_mask;                          /* FI_HOOK_*; fixed while the runtime runs */
    FI_ATOMIC(uint32_t) ready_mask;              /* the same, and FI_HOOK_BOUND; for fi_ready */
    fi_event_ring *events; /* of its trace; NULL: no trace; fixed while the runtime runs */
    fi_overflow_handler own_overflow, borrower_overflow;
    fi_stack_cache stacks;
    fi_record_pool records[FI_RECORD_CLASSES];
    fi_runnable *pending_pick; /* picked by a fiber that may not run it itself */
    long n_busy; /* fibers acquired minus released; the sum over all workers is the busy fibers */
    fi_fiber *fiber_cache; /* fibers without work, the last used first */
    unsigned n_cached;
    int64_t stack_retry_ns; /* when to try to map a stack again */
    int64_t stack_retry_delay_ns;
    FI_ATOMIC(uint32_t) memory_wait_seen; /* memory_wait.pushes at its last check */
    FI_ATOMIC(uint32_t) tick;             /* number of its picks */
    uint32_t sched_tick_at;               /* tick at which the scheduler picks next, not a fiber */
    uint32_t timer_tick_at;               /* tick of the next look at the timers */
    unsigned timer_turn;                  /* index of the last heap that fi_timers_fire_late read */
    uint32_t fair_tick_at;                /* tick of the next pick for fairness */
    uint32_t fair_round;
    bool maybe_unstarted; /* false: its deque is empty */
    bool bound_turn;      /* bound fibers were preferred last time */
    uint8_t pick_first;   /* FI_PICK_* */
    fi_search_time search_time;
    fi_rng rng;
    uint32_t io_tick, io_streak; /* io: calls without a wait since the pick io_tick */
    fi_after_switch after_switch;
    bool in_after_switch; /* chaos builds: a fiber runs after_switch */
    fi_counters counters;
    uint64_t next_trace_id; /* of its event ring */
    fi_intern_cache intern_cache;

    /* For the watchdog. */
    FI_CACHE_ALIGNED
    FI_ATOMIC(int) tid;              /* of the worker's own thread; 0: not started yet */
    FI_ATOMIC(int) thread_clock;     /* of the attached thread */
    FI_ATOMIC(uint64_t) n_long_runs; /* fibers that held the worker too long */
    fi_long_run long_run;
};

/* Unstarted work that waits for memory (sched/memory_wait.h). */
typedef struct fi_memory_wait {
    fi_shared_queue queue;
    FI_ATOMIC(uint32_t) pushes;
    FI_ATOMIC(int64_t) since_ns; /* when a record last got a stack, or the first one was pushed */
    FI_ATOMIC(uint32_t) is_reported; /* since the queue was empty */
} fi_memory_wait;

/* When a fiber turns its private tasks into tickets (task/task.c). */
typedef enum fi_publish_mode {
    FI_PUBLISH_LAZY,  /* when a worker is hungry */
    FI_PUBLISH_EAGER, /* at every spawn and sync (FILCH_PUBLISH=eager) */
    FI_PUBLISH_SPAN,  /* not at all: one worker measures the span (FILCH_SCALE) */
    FI_PUBLISH_NEVER, /* in the child of a fork */
} fi_publish_mode;

/* A runtime, from start to stop. */
struct fi_runtime {
    fi_settings settings;
    uint64_t number; /* counts the runtimes of this process */
    unsigned n_workers;
    fi_worker *workers;
    fi_stack_pool stack_pool;
    fi_stack_pool sized_pools[FI_STACK_SIZES]; /* created under fibers_lock */
    unsigned *strides; /* numbers coprime to n_workers: random orders of victims */
    unsigned n_strides;
    FI_CACHE_ALIGNED FI_ATOMIC(uint32_t) stopping;
    FI_ATOMIC(uint32_t) inbox_turn; /* the worker that gets the next external work */
    FI_ATOMIC(uint32_t)
    bound_turn;         /* the worker that gets the next bound fiber, if all are equal */
    bool in_fork_child; /* this process is the child of a fork: the workers do not exist */
    fi_publish_mode publish_mode; /* fixed, but NEVER in the child of a fork */
    fi_shared_queue global;
    fi_shared_queue high_queue, low_queue; /* unstarted work before and after all other */
    fi_memory_wait memory_wait;
    fi_idle idle;
    FI_ATOMIC(uint32_t) n_searching_borrowers; /* of the searchers in idle.state; a hint */
    FI_ATOMIC(uint32_t) timers_stopped;        /* no timer fires; written while all workers sleep */
    fi_watchdog watchdog;
    FI_ATOMIC(int64_t) coarse_now_ns; /* a recent time */
    FI_ATOMIC(fi_poller *) poller;    /* NULL: none yet */
    fi_record_depot record_depots[FI_RECORD_CLASSES];
    fi_lock external_lock;                              /* guards external_records */
    fi_record_pool external_records[FI_RECORD_CLASSES]; /* for threads that are not workers */
    FI_ATOMIC(uint64_t) n_external_submits;             /* besides those that workers count */
    fi_lock fibers_lock;            /* guards sized_pools, and keeps fibers alive */
    fi_ctx_fpenv fpenv;             /* floating-point modes at the start of work */
    fi_runtime *fork_leftover;      /* the parent's runtime, in the child of a fork */
    unsigned n_observer_threads;    /* of src/observe; fixed while the runtime runs */
    fi_event_ring *external_events; /* of threads that are not workers; NULL: no trace; fixed */
    fi_intern *names;
    fi_lock external_events_lock;
};

/* [any] The worker of the calling thread; NULL: it is not a worker.  A call that may park can
 * change it. */
static inline fi_worker *fi_worker_self(void)
{
    return fi_tls_worker();
}

/* [worker] The fiber that it runs; NULL: none. */
static inline fi_fiber *fi_worker_fiber(const fi_worker *w)
{
    return fi_fiber_of_bounds(fi_load_relaxed(&w->current));
}

/* [any] The fiber that the calling thread runs; NULL: none. */
static inline fi_fiber *fi_fiber_self(void)
{
    const fi_worker *w = fi_worker_self();

    return w ? fi_worker_fiber(w) : NULL;
}

/* [any, before the workers run] Add a consumer to the tracepoints of the worker. */
static inline void fi_worker_add_hook(fi_worker *w, uint32_t hook)
{
    w->hook_mask |= hook;
    fi_store_relaxed(&w->ready_mask, fi_load_relaxed(&w->ready_mask) | hook);
}

/* [worker thread] Run until the runtime stops. */
void *fi_worker_main(void *worker);

/* [any] Attach the calling thread to the worker, and detach it. */
void fi_worker_attach(fi_worker *w, fi_worker_thread *attached);
void fi_worker_detach(void);

/* [any] All but the thread. */
int fi_worker_init(fi_worker *w, fi_runtime *rt, unsigned index);
void fi_worker_fini(fi_worker *w);

/* [worker] There is no memory for a task stack.  Leave the task to a worker that has one, and wait
 * a little.  The spawner may claim the task back. */
void fi_worker_requeue_no_memory(fi_worker *w, fi_runnable *r);

/* [worker] The next work; NULL: the thread must detach.  find_work.c
 * fi_find_work: sleep until there is work.
 * fi_find_after_wake: the same for a worker that was just woken, and so is a searcher.
 * fi_find_work_awake: do not sleep; NULL also if there is no work, and then *searching tells
 * whether the worker is a searcher. */
fi_runnable *fi_find_work(fi_worker *w);
fi_runnable *fi_find_after_wake(fi_worker *w);
fi_runnable *fi_find_work_awake(fi_worker *w, bool *searching);

/* [fiber that has ended its work] Unstarted work for the same fiber; NULL: switch to the
 * scheduler. */
fi_runnable *fi_find_unstarted(fi_worker *w);

/* [the thread that starts or stops the runtime, while no worker runs] records.c */
void fi_records_init(fi_runtime *rt);
void fi_records_fini(fi_runtime *rt);

/* [thread that is not a worker, while the runtime runs] records.c */
void *fi_record_alloc_external(fi_runtime *rt, fi_record_class class);
void fi_record_free_external(fi_runtime *rt, fi_record_class class, void *record);

/* [any, while the runtime runs; w: the caller's worker, or NULL] An uninitialised record; NULL: no
 * memory.  It may be freed by another thread. */
static inline void *fi_record_alloc(fi_runtime *rt, fi_worker *w, fi_record_class class)
{
    return w ? fi_record_pool_alloc(&w->records[class]) : fi_record_alloc_external(rt, class);
}

static inline void fi_record_free(fi_runtime *rt, fi_worker *w, fi_record_class class, void *record)
{
    if (w)
        fi_record_pool_free(&w->records[class], record);
    else
        fi_record_free_external(rt, class, record);
}

/* [any, while no worker is awake] */
bool fi_runtime_has_work(fi_runtime *rt);

/* [any] The same, but only work that another worker may take. */
bool fi_runtime_has_shared_work(fi_runtime *rt);

/* [borrower] Return the worker to its own thread, which is woken if there is work.  find_work.c */
void fi_worker_return(fi_worker *w, bool searching);

/* [any] A parked fiber may continue.  submit.c */
void fi_ready(fi_fiber *f);

/* [any, while the runtime runs] Submit work from a thread that is not a worker.  submit.c */
void fi_submit_external(fi_runtime *rt, fi_runnable *r);

/* [worker] Submit unstarted work to the own deque.  submit.c */
void fi_submit_local(fi_worker *w, fi_runnable *r);

/* [any, while the runtime runs] Submit to the high or the low queue.  submit.c */
void fi_submit_priority(fi_runtime *rt, fi_shared_queue *which, fi_runnable *r);

/* [any] How many of n items a worker takes from the global queue at a time.  find_work.c */
size_t fi_global_share(size_t n, unsigned workers, size_t batch);

_Static_assert(FI_LOCK_OWNERS > 2 * FILCH_WORKERS_MAX, "two lock ids for each worker");

/* [any] The lock id for run queues.  It differs from fi_lock_id(): a fiber that parks locks its run
 * queue while it holds the lock of the object, and an id holds one lock by its bias at a time. */
static inline uint32_t fi_worker_lock_id(const fi_worker *w)
{
    return FILCH_WORKERS_MAX + w->index + 1;
}

/* [worker] Append a ready fiber to the FIFO of the run queue. */
static inline void fi_worker_push_ready(fi_worker *w, fi_runnable *r)
{
    fi_runq_push(&w->ready, fi_worker_lock_id(w), r);
}

/* [worker] Push to the own deque.  False: it is full. */
static inline bool fi_worker_try_push_unstarted(fi_worker *w, void *item)
{
    w->maybe_unstarted = true;
    return fi_deque_push(w->deque, item) == 0;
}

/* [worker] Push to the own deque, or to the global queue if that is full. */
static inline void fi_worker_push_unstarted(fi_worker *w, fi_runnable *r)
{
    if (!fi_worker_try_push_unstarted(w, r))
        fi_shared_queue_push(&w->runtime->global, r);
}

/* From this streak on, the worker is expected to take a single piece of unstarted work itself. */
#define FI_UNSTARTED_STREAK_MIN 16u

/* [any] Is the worker expected to take a single piece of unstarted work itself?  Then no worker is
 * woken for it.  The watchdog detects when it stays. */
static inline bool fi_worker_takes_unstarted(fi_worker *w)
{
    return fi_load_relaxed(&w->unstarted_streak) >= FI_UNSTARTED_STREAK_MIN;
}

/* [any] May a thief take a single piece of unstarted work at once?  It may if that was published
 * for thieves.  Otherwise it takes the piece only if that is stale. */
static inline bool fi_worker_offers_unstarted(fi_worker *w)
{
    return fi_load_relaxed(&w->unstarted_streak) == 0;
}

/* [worker] It has published tasks, or must share its unstarted work. */
static inline void fi_worker_offer_unstarted(fi_worker *w)
{
    fi_store_relaxed(&w->unstarted_streak, 0u);
}

/* [any] Unstarted work was submitted after tasks were published, or was taken by a thief. */
static inline void fi_worker_restart_streak(fi_worker *w)
{
    fi_store_relaxed(&w->unstarted_streak, 1u);
}

/* [worker] It takes unstarted work.  A streak needs a watchdog. */
static inline void fi_worker_count_unstarted(fi_worker *w)
{
    uint32_t streak = fi_load_relaxed(&w->unstarted_streak);

    if (FI_UNLIKELY(streak < FI_UNSTARTED_STREAK_MIN) && streak > 0 &&
        fi_load_relaxed(&w->runtime->watchdog.running))
        fi_store_relaxed(&w->unstarted_streak, streak + 1u);
}

/* [worker] Pop from the own deque.  After an empty pop it is not read until the next push. */
static inline void *fi_worker_pop_unstarted(fi_worker *w)
{
    void *item = w->maybe_unstarted ? fi_deque_pop(w->deque) : NULL;

    w->maybe_unstarted = item != NULL;
    return item;
}

/* [worker] The same, to run it. */
static inline fi_runnable *fi_worker_take_unstarted(fi_worker *w)
{
    fi_runnable *r = fi_worker_pop_unstarted(w);

    if (r)
        fi_worker_count_unstarted(w);
    return r;
}

/* [worker] Wake a sleeping worker for new work, if none searches. */
void fi_notify(fi_worker *w);

#endif
