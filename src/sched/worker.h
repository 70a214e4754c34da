/* A worker: queues, and a thread that runs what is in them.  This is the map of the scheduler; each room's part of it is
 * a file of that name. */
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
    fi_counter taken; /* published tasks that somebody else ran */
    fi_counter steals_single;
    fi_counter steals_multiple;
    fi_counter steals_failed;
    fi_counter stolen;
    fi_counter deque_steals_single; /* the same of deques alone */
    fi_counter deque_steals_single_failed;
    fi_counter deque_steals_multiple;
    fi_counter deque_steals_multiple_failed;
    fi_counter deque_stolen;
    fi_counter parks;
    fi_counter wakes;
    fi_counter sleeps;
    fi_counter searches;
    fi_counter jobs_given; /* and pieces of groups' work */
    fi_counter jobs_ended;
    fi_counter starts_given; /* fibers */
    fi_counter starts_ended;
    fi_counter fibers_created;
    fi_counter fibers_reused;
} fi_counters;

/* The thread that is attached to a worker.  The worker's own thread stays attached while the runtime
 * runs.  A calling thread that runs its own task borrows the worker while that thread sleeps
 * (sched/caller_runs.h). */
#define FI_DIRECT_SWITCH_MAX 15u

typedef struct fi_worker_thread {
    fi_ctx sched_ctx; /* the thread's own stack, where it chooses what to run */
    fi_cxx_exceptions sched_cxx;
    fi_cxx_exceptions *cxx; /* where the thread keeps the state of C++ */
    fi_overflow_handler *overflow;
    bool has_overflow_handler; /* without it an overflow is a bare SIGSEGV: no reason not to run */
    FI_ATOMIC(uint32_t) * stop_flag; /* not 0: the thread is to leave */
    bool is_borrower;
    uint32_t
        direct_switch_max; /* so many looks in a row may be on fibers' stacks; a guest's none */
    int clock;             /* of the thread (base/thread_time.h); 0: not needed */
    fi_fiber *root_fiber;  /* of a guest: what it has come to run */
} fi_worker_thread;

/* [the thread] The watch is the worker's, and keeps its memory for who comes next. */
void fi_worker_thread_init(fi_worker_thread *s, fi_overflow_handler *overflow,
                           FI_ATOMIC(uint32_t) * stop_flag);
void fi_worker_thread_fini(fi_worker_thread *s);

/* [the thread] Is it time to leave? */
static inline bool fi_worker_thread_must_stop(const fi_worker_thread *s)
{
    return fi_load_relaxed(s->stop_flag) != 0;
}

#define FI_LARGE_RECORD  ((size_t)4 * FI_CACHE_LINE)
#define FI_HANDLE_RECORD ((size_t)2 * FI_CACHE_LINE)

#define FI_STACK_SIZES 17 /* powers of two from 16 KiB to 1 GiB */

/* Who looks at the points of sched/tracepoint.h. */
enum { FI_HOOK_TRACE = 1, FI_HOOK_SPAN = 2 };

/* What a fiber that makes way leaves to be done once it is off its stack: a lock to be let go, or a call.  By its worker, or by
 * the fiber that goes on there. */
typedef struct fi_after_switch {
    fi_biased_lock *unlock;                   /* NULL: none */
    uint32_t lock_id;                         /* holds it */
    bool (*callback)(fi_fiber *f, void *arg); /* NULL: none */
    void *arg;
    fi_fiber *fiber; /* which, where another has gone on at once */
} fi_after_switch;

struct fi_worker {
    /* Fixed while the runtime runs. */
    fi_runtime *runtime;
    unsigned index;
    fi_deque *
        deque; /* work that never ran: tickets, jobs.  LIFO for the worker, thieves take the oldest */
    pthread_t thread;

    /* Written by the worker, read by those who search. */
    FI_CACHE_ALIGNED FI_ATOMIC(fi_task_bounds *) current; /* of the fiber that it runs */
    FI_ATOMIC(fi_task_bounds *) leaving;   /* of one that makes way for it just now */
    FI_ATOMIC(const void *) syscall_guard; /* io's: what a system call is made on, just now */

    /* Fibers that are ready again: the worker puts, everybody takes. */
    fi_runq ready;

    /* Written by anybody. */
    FI_CACHE_ALIGNED fi_shared_queue inbox;
    fi_sleeper sleeper;

    /* The worker's own. */
    FI_CACHE_ALIGNED fi_worker_thread *attached; /* of the thread that runs it */
    uint32_t
        hook_mask; /* who looks at each step, as below; 0: nobody.  Fixed while the runtime runs, as is: */
    fi_event_ring *events; /* of what it does; NULL: none */
    fi_overflow_handler own_overflow, borrower_overflow;
    fi_stack_cache stacks;
    fi_record_pool records, large_records, handle_records;
    fi_runnable *pending_pick; /* by a fiber that ended and may not run it */
    long
        n_busy; /* taken less given back; with what others took and gave, those that run or are parked */
    fi_fiber *fiber_cache; /* nothing to run, but a stack; the warmest first */
    unsigned n_cached;
    int64_t stack_retry_ns; /* when to try again to map a stack */
    int64_t stack_retry_delay_ns;
    FI_ATOMIC(uint32_t) memory_wait_seen; /* the value of memory_wait.pushes when it last looked */
    FI_ATOMIC(uint32_t) tick;             /* number of times that it looked for work */
    uint32_t
        sched_tick_at; /* at the latest, the next look at all there is, and none on a fiber's stack */
    uint32_t timer_tick_at; /* the same, what time it is */
    uint32_t fair_tick_at;  /* the same, for fairness' sake */
    uint32_t fair_round;
    bool maybe_unstarted; /* maybe; else there is surely nothing in its deque */
    bool unstarted_first; /* the next look is for what never ran, before what is ready again */
    fi_rng rng;
    uint32_t io_tick,
        io_streak; /* io's: since it looked for work so often, so many that did not have to wait */
    fi_worker *
        next_suspect; /* whose next slot was seen filled, when it had looked for work so often, since then */
    uint32_t next_suspect_tick;
    int64_t next_suspect_since;
    fi_after_switch after_switch;
    bool in_after_switch; /* with chaos: on a fiber, for the one before it */
    fi_counters counters;
    uint64_t next_trace_id; /* in its log */
    fi_intern_cache intern_cache;

    /* The watcher's. */
    FI_CACHE_ALIGNED
    FI_ATOMIC(int) tid;          /* of the worker's own thread, which writes it once; 0: not yet */
    FI_ATOMIC(int) thread_clock; /* of the thread that runs it, its own or a guest's */
    FI_ATOMIC(uint64_t) n_long_runs; /* times one fiber kept it too long */
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

/* All there is of one runtime, from start to stop. */
struct fi_runtime {
    fi_settings settings;
    uint64_t number; /* of all that were started in this process */
    unsigned n_workers;
    fi_worker *workers;
    fi_stack_pool stack_pool;
    fi_stack_pool sized_pools[FI_STACK_SIZES]; /* under fibers_lock until they are made */
    unsigned *strides; /* numbers coprime to n_workers, for visits in random order */
    unsigned n_strides;
    FI_CACHE_ALIGNED FI_ATOMIC(uint32_t) stopping;
    FI_ATOMIC(uint32_t) inbox_turn; /* whose inbox gets the next piece of work from outside */
    bool in_fork_child;             /* we are the child of a fork(): its workers are gone */
    fi_publish_mode publish_mode;   /* of tasks; fixed, but NEVER in the child of a fork */
    fi_shared_queue global;
    fi_shared_queue high_queue, low_queue; /* work that never ran: before all other, and after */
    fi_memory_wait memory_wait;
    fi_idle idle;
    fi_timer_heap timers;
    fi_watchdog watchdog;
    FI_ATOMIC(int64_t) coarse_now_ns; /* the time, refreshed now and then */
    FI_ATOMIC(fi_poller *) poller;    /* NULL: none yet */
    fi_record_depot records, large_records, handle_records;
    fi_lock external_lock;
    fi_record_pool external_records, external_large_records,
        external_handle_records;            /* for threads that are no workers; under the lock */
    FI_ATOMIC(uint64_t) n_external_submits; /* besides what the workers counted */
    fi_lock fibers_lock;       /* guards the pools of other sizes, and fibers from being unmade */
    fi_ctx_fpenv fpenv;        /* that all work begins with */
    fi_runtime *fork_leftover; /* another, that this process was forked without */
    unsigned
        n_observer_threads; /* threads of the floor above, which only look; fixed while the runtime runs */
    /* NULL: nobody wants to know, and no worker has a log (sched/tracepoint.h).  Fixed while the runtime runs */
    fi_event_ring *external_events;
    fi_intern *names;
    fi_lock external_events_lock;
};

/* [any] The calling thread's worker, NULL when it is none.  Ask again after anything that may park. */
static inline fi_worker *fi_worker_self(void)
{
    return fi_tls_worker();
}

/* [worker thread] Run until the runtime stops. */
void *fi_worker_main(void *worker);

/* [any] The calling thread runs the worker from now on; not any more. */
void fi_worker_attach(fi_worker *w, fi_worker_thread *attached);
void fi_worker_detach(void);

/* [any] Set up and tear down all but the thread. */
int fi_worker_init(fi_worker *w, fi_runtime *rt, unsigned index);
void fi_worker_fini(fi_worker *w);

/* [worker] There is no memory for a task stack: leave the task to a worker that has one, and wait a
 * little.  The spawner may claim the task back. */
void fi_worker_requeue_no_memory(fi_worker *w, fi_runnable *r);

/* [worker] The next thing to run; NULL when the thread is to leave.  find_work.c
 * fi_find_work: sleeps until there is something.  A worker that was woken from its first sleep is a searcher.
 * fi_find_work_awake: NULL also when nothing is pending_pick; is it a searcher then? */
fi_runnable *fi_find_work(fi_worker *w);
fi_runnable *fi_find_after_wake(fi_worker *w);
fi_runnable *fi_find_work_awake(fi_worker *w, bool *searching);

/* [worker's fiber that has ended its work] Something that never ran, to be run on the same fiber; NULL: go home. */
fi_runnable *fi_find_unstarted(fi_worker *w);

/* [any; w: of the caller, NULL: it has none] A fiber to be started later: run body(arg); NULL: no memory.  It is given to a
 * worker, by that, or dropped.  start.c */
fi_runnable *fi_start_prepare(fi_runtime *rt, fi_worker *w, void (*body)(void *arg), void *arg);
void fi_start_cancel(fi_runtime *rt, fi_worker *w, fi_runnable *r);
void fi_start_submit(fi_worker *w, fi_runnable *r);

/* [any] The stack that it was started with, if it has a size of its own; NULL: any stack will do.
 * start.c */
extern const char fi_start_is_sized; /* marks records that have such a stack */
fi_stack *fi_start_stack_of(const fi_runnable *r);
static inline fi_stack *fi_start_stack(const fi_runnable *r)
{
    return r->of == &fi_start_is_sized ? fi_start_stack_of(r) : NULL;
}

/* [any, while no worker is awake] Is there anything to run? */
bool fi_runtime_has_work(fi_runtime *rt);

/* [guest] It is not ours any more: its own thread goes on, when there is something to do.  find_work.c */
void fi_worker_return(fi_worker *w, bool searching);

/* [any] Give work to the runtime.  ready.c
 * fi_ready: a fiber that parked may go on.
 * fi_submit_external: work from a thread that is no worker. */
void fi_ready(fi_fiber *f);
void fi_submit_external(fi_runtime *rt, fi_runnable *r);

/* [worker] Give work that never ran to ourselves, and to whoever is faster.  ready.c */
void fi_submit_local(fi_worker *w, fi_runnable *r);

/* [any, while the runtime is there] The same before or after all other work. */
void fi_submit_priority(fi_runtime *rt, fi_shared_queue *which, fi_runnable *r);

/* [any] How many of n in the global queue one worker takes at once.  find_work.c */
size_t fi_global_share(size_t n, unsigned workers, size_t batch);

_Static_assert(FI_LOCK_OWNERS > 2 * FILCH_WORKERS_MAX, "two parties for each worker");

/* [any] As a party to the locks of run queues.  Another than fi_lock_id(): who parks looks into its run queue while it still
 * holds the lock of what it waits for, and a party holds only one as a favourite. */
static inline uint32_t fi_worker_lock_id(const fi_worker *w)
{
    return FILCH_WORKERS_MAX + w->index + 1;
}

/* [worker] Put a ready fiber at the end of its line. */
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

/* [worker] Pop from the own deque.  An empty one is not asked again until the next push. */

static inline void *fi_worker_pop_unstarted(fi_worker *w)
{
    void *item = w->maybe_unstarted ? fi_deque_pop(w->deque) : NULL;

    w->maybe_unstarted = item != NULL;
    return item;
}

/* [worker] Wake somebody for work that was just made findable, and count it. */
void fi_notify(fi_worker *w);

#endif
