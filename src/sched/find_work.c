/* The next work to run, in the order of Go's scheduler:
 *
 *     0. every 61st time: in turn the global queue, the inbox, the old end of the own deque, low
 *        priority, work that waits for memory, bound fibers, and the FIFO before the next slot, so
 *        that none of them starves.  The worker polls as well, and fires late timers of another
 *        worker.  This comes before high priority: an endless chain of high-priority jobs must not
 *        stop timers and I/O
 *        then high priority
 *     1. every second time bound fibers, if the worker has any (sched/bound.h); then the own run
 *        queue, next slot and FIFO: fibers that are ready again
 *     2. the own deque: unstarted work, the newest first
 *     3. the own inbox
 *     4. the global queue, several at once; then bound fibers
 *     5. the poller, unless a worker sleeps in it; then work that waits for memory, once it is free
 *     6. other workers, each once in a random order, at most 4 rounds: their deque (up to k pieces
 *        of work), their FIFO (half; the only ready fiber, if it is stale), their inbox; a worker
 *        that has nothing to steal gets a request to publish
 *     7. low priority; then 6 again until the search time is over, or no worker runs work and none
 *        is expected soon (sched/search_time.h).
 *        Own timers fire every 8th time, those of all workers in each round (sched/timers.h)
 *     8. sleep, until the next timer at most, in the poller if no other worker sleeps there
 *
 * A random order is a random start and a random stride that is coprime to the number of workers.
 */
#include "base/clock.h"
#include "base/futex.h"
#include "sched/bound.h"
#include "sched/caller_runs.h"
#include "sched/memory_wait.h"
#include "sched/timers.h"
#include "sched/tracepoint.h"

#define FAIR_TICK            61
#define TICKS_PER_CLOCK_READ 8u /* ticks between two reads of the clock */
#define ROUNDS               4
#define PAUSES               8 /* spins between two rounds */
#define STALE_NS             5000

/* Return the first of the list to be run, and push the others to the FIFO of the worker. */
static fi_runnable *push_rest_ready(fi_worker *w, fi_runnable *list)
{
    fi_runnable *first = list;

    list = list->next;
    if (!list)
        return first;
    while (list) {
        fi_runnable *r = list;
        list = r->next;
        fi_worker_push_ready(w, r);
    }
    fi_notify(w); /* no other worker could see them while they moved */
    return first;
}

/* The share of the global queue as in Go: n / workers + 1, at most half of n, at most batch, at
 * least 1. */
size_t fi_global_share(size_t n, unsigned workers, size_t batch)
{
    size_t share = n / workers + 1;

    if (share > n / 2)
        share = n / 2;
    if (share > batch)
        share = batch;
    return share > 0 ? share : 1;
}

static fi_runnable *take_global(fi_worker *w, size_t max)
{
    fi_shared_queue *global = &w->runtime->global;
    size_t n = fi_shared_queue_size(global);
    fi_runnable *list;

    if (n == 0)
        return NULL;
    n = fi_global_share(n, w->runtime->n_workers, FI_RUNQ_BATCH);
    if (fi_shared_queue_take(global, n < max ? n : max, &list) == 0)
        return NULL;
    return push_rest_ready(w, list);
}

/* A borrower does not take work with a priority: it could only push it back to the global queue,
 * where the priority is lost. */
static fi_runnable *take_priority(fi_worker *w, fi_shared_queue *q)
{
    return fi_shared_queue_size(q) > 0 && !w->attached->is_borrower ? fi_shared_queue_pop(q) : NULL;
}

static fi_runnable *take_high(fi_worker *w)
{
    return take_priority(w, &w->runtime->high_queue);
}

static fi_runnable *take_low(fi_worker *w)
{
    return take_priority(w, &w->runtime->low_queue);
}

/* Take the oldest item of the own deque by a steal, but count it as a pop.  It has waited for long,
 * so the worker does not take its unstarted work soon. */
static fi_runnable *take_oldest(fi_worker *w)
{
    void *old = NULL;

    if (fi_deque_steal(w->deque, &old, 1) == 1)
        fi_worker_restart_streak(w);
    else
        old = NULL;
    return fi_deque_count_pop(fi_deque_counts_of(w->deque), old);
}

static fi_runnable *take_for_fairness(fi_worker *w)
{
    fi_poller_poll(w);
    fi_timers_fire_late(w);
    if (FI_UNLIKELY(fi_bound_has_any(w)))
        w->pick_first |= FI_PICK_BOUND;
    w->fair_tick_at = fi_load_relaxed(&w->tick) + FAIR_TICK;
    switch (w->fair_round++ % 7) {
    case 0:
        return take_global(w, 1);
    case 1:
        return fi_shared_queue_pop(&w->inbox);
    case 2:
        return take_oldest(w);
    case 3:
        return take_low(w);
    case 4:
        return fi_memory_wait_take(w);
    case 5:
        return fi_bound_take(w);
    default:
        return fi_runq_pop_fifo(&w->ready, fi_worker_lock_id(w));
    }
}

/* A fiber that yields lets unstarted work go first.  Otherwise that work would wait forever behind
 * fibers that only yield until it has run. */
static fi_runnable *take_unstarted_first(fi_worker *w)
{
    w->pick_first &= FI_PICK_BOUND;
    return fi_worker_take_unstarted(w);
}

/* Bound fibers and other work take turns.  Otherwise one could wait forever behind the other. */
static __attribute__((noinline, cold)) fi_runnable *take_bound_in_turn(fi_worker *w)
{
    fi_runnable *r = NULL;

    w->bound_turn = !w->bound_turn;
    if (w->bound_turn)
        r = fi_bound_take(w);
    if (!r && w->pick_first & FI_PICK_UNSTARTED)
        r = take_unstarted_first(w);
    if (!fi_bound_has_any(w))
        w->pick_first &= FI_PICK_UNSTARTED;
    return r;
}

static fi_runnable *take_preferred(fi_worker *w)
{
    return FI_LIKELY(w->pick_first == FI_PICK_UNSTARTED) ? take_unstarted_first(w)
                                                         : take_bound_in_turn(w);
}

/* Not ==, because fi_switch_may_pick (sched/switch.h) advances the tick as well, without this
 * check. */
static bool tick_is_due(uint32_t tick, uint32_t at)
{
    return (int32_t)(tick - at) >= 0;
}

static fi_runnable *take_own(fi_worker *w)
{
    uint32_t tick = fi_load_relaxed(&w->tick) + 1u;
    fi_runnable *r = NULL;

    fi_store_relaxed(&w->tick, tick);
    w->sched_tick_at = tick + w->attached->direct_switch_max;
    if (tick_is_due(tick, w->timer_tick_at)) {
        w->timer_tick_at = tick + TICKS_PER_CLOCK_READ;
        fi_timers_fire(w);
    }
    if (tick_is_due(tick, w->fair_tick_at))
        r = take_for_fairness(w);
    if (!r && (r = take_high(w)) != NULL)
        return r;
    if (!r && w->pick_first)
        r = take_preferred(w);
    if (!r)
        r = fi_runq_pop(&w->ready, fi_worker_lock_id(w));
    if (!r)
        r = fi_worker_take_unstarted(w);
    if (!r)
        r = fi_shared_queue_pop(&w->inbox);
    if (!r)
        r = take_global(w, SIZE_MAX);
    if (!r && w->pick_first)
        r = fi_bound_take(w);
    return r;
}

/* The own queues, then the poller, then bound fibers that are new, then work that waits for
 * memory. */
static fi_runnable *take_or_poll(fi_worker *w)
{
    fi_runnable *r = take_own(w);

    if (!r && fi_poller_poll(w))
        r = take_own(w);
    if (!r)
        r = fi_bound_take(w);
    return r ? r : fi_memory_wait_take(w);
}

/* The number of items is counted before the steal, so a reader never sees a steal without items. */
static void count_steal(fi_worker *w, const fi_worker *victim, int n)
{
    fi_counters *c = &w->counters;

    fi_trace_steal(w, victim, n);
    fi_count_add(&c->stolen, (uint64_t)n);
    fi_count(n == 1 ? &c->steals_single : &c->steals_multiple);
}

static void push_rest_unstarted(fi_worker *w, void **items, int n)
{
    for (int i = 0; i < n; i++)
        fi_worker_push_unstarted(w, items[i]);
}

/* The counting of Kuchumov (2016).  A claim of several items that lost a race counts as one of
 * several.  Where the deque was empty, the number of items is not known, and the attempt counts as
 * one of a single item. */
static void count_deque_steal(fi_counters *c, int n)
{
    if (n > 0)
        fi_count_add(&c->deque_stolen, (uint64_t)n);
    if (n > 1)
        fi_count(&c->deque_steals_multiple);
    else if (n == 1)
        fi_count(&c->deque_steals_single);
    else if (n == FI_STEAL_LOST_SEVERAL)
        fi_count(&c->deque_steals_multiple_failed);
    else
        fi_count(&c->deque_steals_single_failed);
}

/* May the only unstarted work of the worker be stolen?  Wait until the worker takes it, or for
 * STALE_NS.  True: the deque was not empty meanwhile.  The worker may have looked for work, and run
 * ready fibers first. */
static bool unstarted_is_stale(fi_worker *victim)
{
    int64_t until = fi_clock_now() + STALE_NS;

    while (fi_clock_now() < until) {
        if (fi_deque_size(victim->deque) == 0)
            return false;
        fi_pause();
    }
    return true;
}

/* Published tasks are meant for thieves.  Other work that is alone in the deque is taken only if it
 * is stale.  If the deque is empty, a thief must not take what comes next. */
static bool may_steal_unstarted(fi_worker *victim)
{
    size_t n;

    if (fi_worker_offers_unstarted(victim))
        return true;
    n = fi_deque_size(victim->deque);
    return n > 1 || (n == 1 && unstarted_is_stale(victim));
}

/* Return the oldest item to be run.  The others keep their order, with the oldest nearest to the
 * thieves. */
static fi_runnable *steal_from_deque(fi_worker *w, fi_worker *victim)
{
    void *items[FI_DEQUE_MAX_BATCH];
    int n = FI_STEAL_EMPTY;

    if (may_steal_unstarted(victim))
        n = fi_deque_steal(victim->deque, items, w->runtime->settings.steal_batch);
    count_deque_steal(&w->counters, n);
    if (n <= 0)
        return NULL;
    if (!fi_worker_offers_unstarted(victim))
        fi_worker_restart_streak(victim);
    count_steal(w, victim, n);
    push_rest_unstarted(w, items + 1, n - 1);
    return items[0];
}

/* May the only ready fiber of the worker be stolen?  Wait until the worker looks for work, or for
 * STALE_NS.  True: it has not looked for work. */
static bool ready_is_stale(fi_worker *victim)
{
    uint32_t tick = fi_load_relaxed(&victim->tick);
    int64_t until = fi_clock_now() + STALE_NS;

    while (fi_clock_now() < until) {
        if (fi_load_relaxed(&victim->tick) != tick || fi_runq_size(&victim->ready) != 1)
            return false;
        fi_pause();
    }
    return true;
}

static fi_runnable *steal_from_runq(fi_worker *w, fi_worker *victim)
{
    uint32_t there = fi_runq_size(&victim->ready), n;
    fi_runnable *list;

    if (there == 0 || (there == 1 && !ready_is_stale(victim)))
        return NULL;
    n = fi_runq_steal(&victim->ready, fi_worker_lock_id(w), FI_RUNQ_BATCH, there == 1, &list);
    if (n == 0)
        return NULL;
    count_steal(w, victim, (int)n);
    return push_rest_ready(w, list);
}

/* A worker that runs a fiber may have private tasks. */
static void request_publish(fi_worker *victim)
{
    fi_task_bounds *f = fi_task_bounds_load_current(&victim->current);

    if (f && !fi_task_bounds_is_requested(f))
        fi_task_bounds_request(f);
}

static fi_runnable *steal_from_inbox(fi_worker *w, fi_worker *victim)
{
    fi_runnable *r = fi_shared_queue_pop(&victim->inbox);

    if (r)
        count_steal(w, victim, 1);
    return r;
}

static fi_runnable *try_steal_from(fi_worker *w, fi_worker *victim)
{
    fi_runnable *r = steal_from_deque(w, victim);

    if (!r)
        r = steal_from_runq(w, victim);
    if (!r)
        r = steal_from_inbox(w, victim);
    if (!r) {
        fi_count(&w->counters.steals_failed);
        request_publish(victim);
    }
    return r;
}

static fi_runnable *take_shared(fi_worker *w)
{
    fi_runnable *r = take_high(w);

    if (!r)
        r = take_global(w, SIZE_MAX);
    return r ? r : take_low(w);
}

static fi_runnable *try_steal_from_all(fi_worker *w)
{
    fi_runtime *rt = w->runtime;
    unsigned at = fi_rng_below(&w->rng, rt->n_workers);
    unsigned stride = rt->strides[fi_rng_below(&w->rng, rt->n_strides)];

    for (unsigned i = 0; i < rt->n_workers; i++, at = (at + stride) % rt->n_workers) {
        fi_runnable *r = at == w->index ? NULL : try_steal_from(w, &rt->workers[at]);
        if (r)
            return r;
    }
    return take_shared(w);
}

/* A fiber that a timer has made ready. */
static fi_runnable *take_timer_ready(fi_worker *w)
{
    fi_timers_fire_all(w);
    return fi_runq_pop(&w->ready, fi_worker_lock_id(w));
}

/* Work for a searcher. */
static fi_runnable *try_find(fi_worker *w)
{
    fi_runnable *r = try_steal_from_all(w);

    if (!r)
        r = fi_shared_queue_pop(&w->inbox);
    if (!r)
        r = take_timer_ready(w);
    return r ? r : fi_bound_take(w);
}

/* After the minimum time a search goes on only if the worker expects work soon, all events are
 * polled for, and no thread waits until all workers sleep. */
static bool search_is_over(fi_worker *w, int64_t searched_ns, int64_t limit_ns)
{
    fi_runtime *rt = w->runtime;
    int64_t min_ns = rt->settings.search_ns;

    if (searched_ns >= limit_ns)
        return true;
    if (limit_ns > min_ns && !fi_idle_is_unpolled(&rt->idle) && !fi_idle_is_awaited(&rt->idle))
        return false;
    return searched_ns >= min_ns || fi_idle_all(&rt->idle, rt->n_workers);
}

static fi_runnable *search_until_found(fi_worker *w)
{
    const fi_settings *settings = &w->runtime->settings;
    fi_search_time *time = &w->search_time;
    int64_t now = 0, limit = 0;

    for (int round = 0; !fi_worker_thread_must_stop(w->attached); round++) {
        fi_runnable *r = try_find(w);
        if (r && round >= ROUNDS)
            fi_search_time_found(time, now, settings->search_max_ns);
        if (r)
            return r;
        if (round >= ROUNDS - 1)
            now = fi_clock_now();
        if (round == ROUNDS - 1)
            limit = fi_search_time_begin(time, now, settings->search_ns);
        if (round >= ROUNDS && search_is_over(w, now - time->idle_ns, limit)) {
            fi_search_time_failed(time, now, limit > settings->search_ns);
            return NULL;
        }
        for (int i = 0; i < PAUSES; i++)
            fi_pause();
    }
    return NULL;
}

/* A borrower stops searching when its own work is done.  It must not keep the other worker of two
 * from searching, so each searching borrower raises the limit by one searcher, or two workers. */
static bool search_begin(fi_worker *w)
{
    fi_runtime *rt = w->runtime;
    uint32_t borrowers = fi_load_relaxed(&rt->n_searching_borrowers);

    return fi_idle_search_begin(&rt->idle, rt->n_workers + 2 * borrowers);
}

static fi_runnable *search_for_work(fi_worker *w)
{
    bool is_borrower = w->attached->is_borrower;
    fi_runnable *r;

    fi_count(&w->counters.searches);
    fi_trace_search(w);
    if (is_borrower)
        fi_fetch_add_relaxed(&w->runtime->n_searching_borrowers, 1u);
    r = search_until_found(w);
    if (is_borrower)
        fi_fetch_add_relaxed(&w->runtime->n_searching_borrowers, 0u - 1u);
    fi_trace_search_end(w, r != NULL);
    return r;
}

static bool worker_has_work(fi_worker *w)
{
    return fi_deque_size(w->deque) > 0 || fi_runq_size(&w->ready) > 0 ||
           fi_shared_queue_size(&w->inbox) > 0;
}

static bool has_queued_work(fi_runtime *rt)
{
    return fi_shared_queue_size(&rt->global) > 0 || fi_shared_queue_size(&rt->high_queue) > 0 ||
           fi_shared_queue_size(&rt->low_queue) > 0;
}

bool fi_runtime_has_shared_work(fi_runtime *rt)
{
    for (unsigned i = 0; i < rt->n_workers; i++)
        if (worker_has_work(&rt->workers[i]))
            return true;
    return has_queued_work(rt) || fi_memory_wait_size(rt) > 0;
}

bool fi_runtime_has_work(fi_runtime *rt)
{
    for (unsigned i = 0; i < rt->n_workers; i++)
        if (fi_bound_has_ready(&rt->workers[i]))
            return true;
    return fi_runtime_has_shared_work(rt);
}

/* The worker will take its only ready fiber itself: it always did (sched/runq.h), or it looks for
 * work every few microseconds, as for two fibers that only yield.  The watchdog detects when it
 * does not. */
static bool worker_keeps_ready(fi_worker *w)
{
    if (fi_runq_size(&w->ready) != 1)
        return false;
    return fi_runq_owner_takes_next(&w->ready) ||
           (fi_load_relaxed(&w->runtime->watchdog.running) && !ready_is_stale(w));
}

static bool worker_keeps_unstarted(fi_worker *w)
{
    return fi_deque_size(w->deque) == 1 && fi_worker_takes_unstarted(w);
}

/* Is there work that other workers should take now?  A worker can take only one piece itself. */
static bool worker_has_work_for_others(fi_worker *w)
{
    bool unstarted = fi_deque_size(w->deque) > 0, ready = fi_runq_size(&w->ready) > 0;

    return fi_shared_queue_size(&w->inbox) > 0 || (unstarted && ready) ||
           (unstarted && !worker_keeps_unstarted(w)) || (ready && !worker_keeps_ready(w));
}

/* The last check before sleep.  It only tests for work, because only a worker that is awake may
 * take it. */
static bool must_stay_awake(void *ctx)
{
    fi_worker *w = ctx;
    fi_runtime *rt = w->runtime;

    if (fi_load_relaxed(&rt->stopping) || fi_watchdog_check_is_wanted(&rt->watchdog) ||
        has_queued_work(rt) || fi_bound_has_ready(w) || fi_idle_is_unpolled(&rt->idle) ||
        fi_memory_wait_is_unseen(w) || fi_timers_next(rt) < fi_idle_timer_deadline(&rt->idle))
        return true;
    for (unsigned i = 0; i < rt->n_workers; i++) {
        fi_worker *victim = &rt->workers[i];
        if (victim == w ? worker_has_work(w) : worker_has_work_for_others(victim))
            return true;
        if (victim != w)
            request_publish(victim);
    }
    return false;
}

/* A borrower may have been attached to the worker while its own thread slept. */
static void sleep_until_work(fi_worker *w, bool searching)
{
    fi_worker_thread *mine = w->attached;
    int64_t until = fi_memory_wait_deadline(w, fi_timers_first_live(w->runtime));
    int64_t watch = fi_watchdog_check_as_worker(w->runtime, searching);

    fi_search_time_sleep(&w->search_time);
    fi_count(&w->counters.sleeps);
    fi_trace_sleep(w);
    fi_idle_sleep(&w->runtime->idle, &w->sleeper, searching, must_stay_awake, w,
                  until < watch ? until : watch);
    fi_trace_woken(w);
    if (searching)
        fi_search_time_woken(&w->search_time, fi_clock_now(), w->runtime->settings.search_max_ns);
    fi_watchdog_worker_awake(w->runtime);
    w->attached = mine;
    fi_store_relaxed(&w->thread_clock, mine->clock);
}

/* The worker's own thread continues to sleep, without a deadline.  If no sleeper has the deadline
 * of the next timer, must_stay_awake() returns true and the thread is woken. */
void fi_worker_return(fi_worker *w, bool searching)
{
    fi_search_time_sleep(&w->search_time);
    fi_idle_return(&w->runtime->idle, &w->sleeper, searching, must_stay_awake, w);
}

/* A search has found work.  There may be more, and no other worker may be searching. */
static fi_runnable *stop_searching(fi_worker *w, fi_runnable *r)
{
    if (fi_idle_search_end(&w->runtime->idle))
        fi_notify(w);
    return r;
}

/* Without sleeping. */
fi_runnable *fi_find_work_awake(fi_worker *w, bool *searching)
{
    fi_runnable *r = take_or_poll(w);

    *searching = false;
    if (r)
        return r;
    *searching = search_begin(w);
    if (!*searching || (r = search_for_work(w)) == NULL)
        return NULL;
    *searching = false;
    return stop_searching(w, r);
}

static fi_runnable *find_as_searcher(fi_worker *w)
{
    fi_runnable *r = take_or_poll(w);

    if (!r)
        r = search_for_work(w);
    return r ? stop_searching(w, r) : NULL;
}

/* At a stop no thread waits for work any more.  Only tickets that were claimed back are left. */
fi_runnable *fi_find_after_wake(fi_worker *w)
{
    fi_runnable *r = NULL;

    while (!fi_worker_thread_must_stop(w->attached) && (r = find_as_searcher(w)) == NULL)
        sleep_until_work(w, true);
    return r;
}

fi_runnable *fi_find_work(fi_worker *w)
{
    fi_runnable *r = w->pending_pick;
    bool searching;

    w->pending_pick = NULL;
    if (r)
        return r;
    if (fi_worker_thread_must_stop(w->attached))
        return NULL;
    r = fi_find_work_awake(w, &searching);
    if (r)
        return r;
    sleep_until_work(w, searching);
    return fi_find_after_wake(w);
}

/* Ready fibers have their own stack, and so have started fibers with a stack size of their own.
 * Those are left to the worker. */
fi_runnable *fi_find_unstarted(fi_worker *w)
{
    fi_runnable *r;

    if (w->runtime->in_fork_child || fi_worker_thread_must_stop(w->attached))
        return NULL;
    r = take_own(w);
    if (!r && !w->attached->is_borrower)
        r = fi_memory_wait_take_here(w);
    if (r && (!r->run || r->stack)) {
        w->pending_pick = r;
        return NULL;
    }
    return r && w->attached->is_borrower && !fi_borrower_may_run(w, r) ? NULL : r;
}
