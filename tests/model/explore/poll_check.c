/* While workers sleep, one of them is in the poller if there is an interest, and one sleeps no
 * longer than until the next timer.  A worker that is woken leaves the poller.
 *
 * There is a timer from the start if `capacity` is 1, and an interest if `batch` is 1.
 * All: T find work and take it, sleeping when there is none, D the same, and one deadline comes too
 * early, P submit work, W add an interest, E post an event, A add an earlier timer, L a later
 * one, G borrow a worker and return it, K keep it for ever, F like D, but the timer that is there
 * from the start fires when the worker has slept once. */
#include "explore/kind.h"

#include "base/futex.h"
#include "explore/workers.h"
#include "sched/poller.h"

#include <errno.h>

enum { NEAR = 1, FAR, LATER };  /* when timers are due */
enum { HEAPS = 2 };             /* one per worker; the timer from the start is in the first */
enum { EVENT = 0x100 };         /* in the poller's word: events above, interrupts below */
enum { PIECE, FROM_POLLER, N }; /* work: a piece, or what the poller made ready */

typedef struct state {
    workers workers;
    fi_poller poller;
} state;

static state *at;
static FI_ATOMIC(uint32_t) work[N]; /* 1: there is work.  A queue with relaxed accesses only */
static FI_ATOMIC(uint32_t) kernel;  /* events and interrupts of the poller */
static FI_ATOMIC(int64_t) timers_next[HEAPS]; /* as in base/timer_heap.c */
static unsigned submitted, taken;             /* one bit for each kind of work */

static bool is_worker(int thread)
{
    return thread_has(thread, "TDF");
}

/* Threads with a D or F: one of their deadlines comes too early. */
static unsigned late(void)
{
    unsigned mask = 0;
    for (int i = 0; i < program_threads(); i++)
        mask |= (unsigned)thread_has(i, "DF") << i;
    return mask;
}

static unsigned n_workers(void)
{
    unsigned n = 0;
    for (int i = 0; i < program_threads(); i++)
        n += is_worker(i);
    return n;
}

/* ---- the kernel behind sched/poller.h ---- */

static void make_ready(void)
{
    x_say("the event makes work ready");
    submitted |= 1u << FROM_POLLER;
    fi_store_relaxed(&work[FROM_POLLER], 1);
    fi_idle_notify(&at->workers.idle);
}

static int poll(fi_poller *p, int64_t deadline_ns, void (*awake)(void *arg), void *arg)
{
    uint32_t posted;
    (void)p;
    x_say("wait in the poller");
    do
        if (fi_futex_wait(&kernel, 0, deadline_ns) == -ETIMEDOUT)
            return -ETIMEDOUT;
    while ((posted = fi_exchange_acquire(&kernel, 0, poller.consume)) == 0);
    if (posted < EVENT)
        return 0;
    awake(arg);
    make_ready();
    return 1;
}

static void post_to_poller(uint32_t what)
{
    fi_fetch_add_release(&kernel, what, poller.post);
    fi_futex_wake(&kernel, MAX_THREADS);
}

static void interrupt(fi_poller *p)
{
    (void)p;
    post_to_poller(1);
}

/* With `capacity` 1 there is a timer from the start, with `batch` 1 an interest. */
static void setup(void)
{
    submitted = taken = 0;
    at = FI_NEW(state);
    workers_init(&at->workers);
    at->poller = (fi_poller){.poll = poll, .interrupt = interrupt};
    at->workers.idle.poller = &at->poller;
    fi_atomic_init(&at->workers.idle.n_interests, program_now->batch);
    x_init(&timers_next[0], (uint64_t)(program_now->capacity ? FAR : FI_FUTEX_FOREVER), "timer[0]");
    x_init(&timers_next[1], (uint64_t)FI_FUTEX_FOREVER, "timer[1]");
    x_init(&kernel, 0, "poller");
    x_init(&work[PIECE], 0, "work");
    x_init(&work[FROM_POLLER], 0, "from poller");
}

/* ---- workers, as in sched/find_work.c ---- */

/* What a thread that goes to sleep, or returns a worker, still needs of what it has read.  A word
 * says that a worker will poll.  No word says that it will wait for its timer once another worker
 * waits for an earlier one.  This is decided when it releases the lock for the first time. */
typedef struct memory {
    uint64_t position;
    bool is_decided;
    uint64_t matters; /* its deadline, 0: none; or the number of the worker that it returns */
} memory;
static memory of_thread[MAX_THREADS];

static void before_unlock(int thread)
{
    memory *m = &of_thread[thread];
    if (!m->is_decided && at->workers.idle.timer_sleeper != &at->workers.sleeper[thread])
        m->matters = 0;
    m->is_decided = true;
}

/* As fi_timers_next in sched/timers.h. */
static int64_t next_timer(void)
{
    int64_t a = fi_load_relaxed(&timers_next[0]), b = fi_load_relaxed(&timers_next[1]);
    return a < b ? a : b;
}

static bool anything(void *ctx)
{
    const memory *m = ctx;
    x_forget(m->position | m->matters << 4 | 1);
    x_say("check once more");
    return fi_load_relaxed(&work[PIECE]) || fi_load_relaxed(&work[FROM_POLLER]) ||
           (!x_fault("recheck_interests") && fi_idle_is_unpolled(&at->workers.idle)) ||
           (!x_fault("recheck_timers") && next_timer() < fi_idle_timer_deadline(&at->workers.idle));
}

static bool take_one(int what)
{
    uint32_t one = 1;
    if (!fi_load_relaxed(&work[what]) || !fi_cas_relaxed(&work[what], &one, 0))
        return false;
    x_say("takes it");
    taken |= 1u << what;
    return true;
}

static void sleep_until_timer(int self, uint64_t position, bool searching)
{
    memory *m = &of_thread[self];
    int64_t until = next_timer();
    *m = (memory){.position = position, .matters = (uint64_t)until & 0xf};
    fi_idle_sleep(&at->workers.idle, &at->workers.sleeper[self], searching, anything, m, until);
}

/* Timers are never due, except by F: timer_check.c checks how they fire. */
static void find_work(int self, uint64_t position, bool fires)
{
    bool searching = fi_idle_search_begin(&at->workers.idle, n_workers());
    x_say("find work");
    while (!searching || !(take_one(PIECE) || take_one(FROM_POLLER))) {
        sleep_until_timer(self, position, searching);
        searching = true;
        if (fires)
            fi_store_relaxed(&timers_next[0], FI_FUTEX_FOREVER);
        x_forget(position | 2); /* what woke it does not matter */
    }
    if (fi_idle_search_end(&at->workers.idle) && !x_fault("last_searcher_notifies"))
        fi_idle_notify(&at->workers.idle);
}

/* ---- other threads ---- */

static void submit_work(void)
{
    x_say("submit work");
    submitted |= 1u << PIECE;
    fi_store_relaxed(&work[PIECE], 1);
    fi_idle_notify(&at->workers.idle);
}

/* As fi_timers_add in sched/timers.h. */
static void add_timer(int64_t deadline)
{
    x_say("add a timer");
    fi_store_relaxed(&timers_next[1], deadline);
    if (!x_fault("timer_notifies"))
        fi_idle_notify_timer(&at->workers.idle, deadline);
}

/* As in sched/caller_runs.c. */
static void borrow_and_return(int self, uint64_t position, bool for_ever)
{
    x_say("borrow");
    fi_sleeper *s = fi_idle_borrow(&at->workers.idle);
    if (!s || for_ever)
        return;
    memory *m = &of_thread[self];
    *m = (memory){position, true, (uint64_t)(s - at->workers.sleeper)};
    x_say("return it");
    fi_idle_return(&at->workers.idle, s, false, anything, m);
}

static void operate(const operation *op)
{
    switch (op->letter) {
    case 'P':
        submit_work();
        break;
    case 'A':
    case 'L':
        add_timer(op->letter == 'A' ? NEAR : LATER);
        break;
    case 'W':
        fi_idle_add_interest(&at->workers.idle);
        break;
    case 'E':
        post_to_poller(EVENT);
        break;
    case 'G':
    case 'K':
        borrow_and_return(op->thread, op->position, op->letter == 'K');
        break;
    default:
        find_work(op->thread, op->position, op->letter == 'F');
    }
}

static const char *thread_name(int thread)
{
    static const char *const names[] = OWNER_AND("submitter", "worker");
    return is_worker(thread) || thread == 0 ? names[thread] : "borrower";
}

static void adjust(check *c)
{
    c->time_stands = true;
    c->late = late();
    c->thread_name = thread_name;
}

/* ---- what must hold when no thread can go on ---- */

static bool sleeps(int thread)
{
    return is_worker(thread) && x_peek(&at->workers.sleeper[thread].asleep) == FI_ASLEEP;
}

static const char *at_rest(void)
{
    int64_t until = FI_FUTEX_FOREVER;
    bool any = false, polls = false;

    for (int i = 0; i < program_threads(); i++) {
        const void *on = x_asleep_on(i);
        if (on && on != &at->workers.sleeper[i].asleep && on != &kernel)
            return "a thread waits for the lock for ever";
        if (on && x_peek(&at->workers.sleeper[i].asleep) == FI_AWAKE)
            return "a worker is woken, and still sleeps";
        if (!sleeps(i))
            continue;
        any = true;
        polls |= on == &kernel;
        until = x_asleep_until(i) < until ? x_asleep_until(i) : until;
    }
    if (!any)
        return NULL;
    if (submitted & ~taken)
        return "work is left, and a worker sleeps";
    if (x_peek(&at->workers.idle.n_interests) > 0 && !polls)
        return "there is an interest, a worker sleeps, and no worker polls";
    if (until > (int64_t)x_peek(&timers_next[0]) || until > (int64_t)x_peek(&timers_next[1]))
        return "there is a timer, a worker sleeps, and no worker waits for it";
    return NULL;
}

static uint64_t summary(void)
{
    return submitted << N | taken;
}

static const char *value_name(uint64_t value)
{
    return value == (uint64_t)FI_FUTEX_FOREVER ? "never" : NULL;
}

static const program programs[] = {
    {0, 0, "W", {"T"}}, {0, 0, "WE", {"T"}}, {0, 0, "A", {"T"}},   {1, 0, "A", {"D"}},
    {1, 1, "P", {"D"}}, {1, 0, "L", {"F"}},  {0, 0, NULL, {NULL}},
};

static const program large_programs[] = {
    {0, 1, "P", {"T", "TT"}}, {1, 1, "K", {"T", "T"}}, {1, 0, "K", {"T", "T"}},
    {1, 0, "A", {"T", "T"}},  {0, 0, "A", {"D", "G"}}, {0, 0, "W", {"T", "G"}},
    {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("no fence in notify", "idle.notify.fence", ORDER_NONE, HANG, HANG, HANG),
    WEAKER("no fence after a timer is added", "idle.notify_timer.fence", ORDER_NONE, HANG, HANG,
           HANG),
    FAULT("no last check whether a worker polls", "recheck_interests", HANG, HANG, HANG),
    FAULT("no last check whether a worker waits for the timer", "recheck_timers", HANG, HANG, HANG),
    FAULT("the first interest wakes no worker", "idle.interest_notifies", HANG, HANG, HANG),
    FAULT("an earlier timer wakes no worker", "timer_notifies", HANG, HANG, HANG),
    FAULT("an awake worker remains the timer sleeper", "idle.clear_timer_sleeper", HANG, HANG,
          HANG),
    FAULT("an awake worker remains the one that polls", "idle.end_polling", HANG, HANG, HANG),
    {.what = "a returned worker is woken, and its poll is not interrupted",
     .weaken = {{"idle.return_interrupts", ORDER_NONE}},
     .expected = {OK, OK, HANG},
     .why_kept = "on rc11 poll:0:0:W:T,G hangs as well: try it by hand"},
    FAULT("the last searcher does not notify", "last_searcher_notifies", HANG, HANG, HANG),
    {.what = "the timer sleeper is lent, and no worker is woken",
     .weaken = {{"idle.borrow_notifies", ORDER_NONE}},
     .expected = {OK, OK, OK},
     .why_kept = "caught by poll:1:0:WK:T,T on rc11 and tso (hang), a program that takes minutes "
                 "to explore as it ships: try it by hand"},
    FAULT("another worker polls before it has left the poller", "idle.end_polling_early", HANG,
          HANG, HANG),
    {.what = NULL},
};

const kind poll_kind = {
    .name = "poll",
    .owner = "TDFPWEALGK",
    .thief = "TDFPWEALGK",
    .programs = programs,
    .large_programs = large_programs,
    .mutants = mutants,
    .threads = OWNER_AND("submitter", "worker"),
    .setup = setup,
    .operate = operate,
    .summary = summary,
    .at_rest = at_rest,
    .before_unlock = before_unlock,
    .value_name = value_name,
    .adjust = adjust,
};
