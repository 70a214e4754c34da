/* While a worker sleeps, one of them asks the poller if something is watched, and one sleeps no longer than until the next
 * timer; who is woken comes out of the poller. */
#include "explore/program.h"

#include "base/futex.h"
#include "explore/mem.h"
#include "sched/idle.h"
#include "sched/poller.h"

#include <errno.h>
#include <string.h>

enum { NEAR = 1, FAR = 2 };      /* when timers are due */
enum { EVENT = 0x100 };          /* in the poller's word: events above, interrupts below */
enum { PIECE, FROM_OUTSIDE, N }; /* what there is to do */

/* In the arena, as the list of sleepers is part of the state. */
typedef struct place {
    fi_idle idle;
    fi_sleeper sleeper[MAX_THREADS];
    fi_poller poller;
} place;

static const program *now;
static place *at;
static FI_ATOMIC(uint32_t) work[N];    /* 1: here is something to do.  The loosest of queues */
static FI_ATOMIC(uint32_t) kernel;     /* what the poller has to tell */
static FI_ATOMIC(int64_t) timers_next; /* as in base/timer_heap.c */
static unsigned put, taken;            /* one bit for each thing to do */

static const char *ops_of(int thread)
{
    return thread == 0 ? now->owner : now->thieves[thread - 1];
}

static bool is_worker(int thread)
{
    return strpbrk(ops_of(thread), "TD") != NULL;
}

/* Once, a deadline comes for each D. */
static unsigned late(void)
{
    unsigned mask = 0;
    for (int i = 0; i < program_threads(now); i++)
        mask |= (unsigned)(strchr(ops_of(i), 'D') != NULL) << i;
    return mask;
}

static unsigned workers(void)
{
    unsigned n = 0;
    for (int i = 0; i < program_threads(now); i++)
        n += is_worker(i);
    return n;
}

/* ---- the poller: what the kernel does in sched/poller.h's name ---- */

static void make_ready(void)
{
    x_say("something to do, from outside");
    put |= 1u << FROM_OUTSIDE;
    fi_store_relaxed(&work[FROM_OUTSIDE], 1);
    fi_idle_notify(&at->idle);
}

static int poll(fi_poller *p, int64_t deadline_ns, void (*awake)(void *arg), void *arg)
{
    uint32_t told;
    (void)p;
    x_say("wait in the poller");
    do
        if (fi_futex_wait(&kernel, 0, deadline_ns) == -ETIMEDOUT)
            return -ETIMEDOUT;
    while ((told = fi_exchange_acquire(&kernel, 0, kernel.take)) == 0);
    if (told < EVENT)
        return 0;
    awake(arg);
    make_ready();
    return 1;
}

static void tell_kernel(uint32_t what)
{
    fi_fetch_add_release(&kernel, what, kernel.tell);
    fi_futex_wake(&kernel, MAX_THREADS);
}

static void interrupt(fi_poller *p)
{
    (void)p;
    tell_kernel(1);
}

/* With `capacity` 1 there is a timer from the start, with `batch` 1 something is watched. */
static void setup(void)
{
    static const char *const asleep[] = {"asleep 0", "asleep 1", "asleep 2", "asleep 3"};
    put = taken = 0;
    at = FI_NEW(place);
    fi_idle_init(&at->idle);
    at->poller = (fi_poller){.poll = poll, .interrupt = interrupt};
    at->idle.poller = &at->poller;
    fi_atomic_init(&at->idle.n_interests, now->batch);
    x_init(&timers_next, (uint64_t)(now->capacity ? FAR : FI_FUTEX_FOREVER), "next timer");
    x_init(&kernel, 0, "poller");
    x_init(&work[PIECE], 0, "work");
    x_init(&work[FROM_OUTSIDE], 0, "from outside");
    for (int i = 0; i < program_threads(now); i++)
        x_init(&at->sleeper[i].asleep, 0, asleep[i]);
}

/* ---- who looks for work, as in sched/find_work.c ---- */

/* What a thread that sleeps, or gives back, still needs of what it has read.  That a worker will poll is in a word, but that it will
 * keep the time is in none once another keeps an earlier one.  It is decided when it gives the lock back for the first time. */
typedef struct memory {
    uint64_t position;
    bool is_decided;
    uint64_t matters; /* until when it sleeps, 0: for ever; or which worker it gives back */
} memory;
static memory of_thread[MAX_THREADS];

static void before_unlock(int thread)
{
    memory *m = &of_thread[thread];
    if (!m->is_decided && at->idle.timer_sleeper != &at->sleeper[thread])
        m->matters = 0;
    m->is_decided = true;
}

static bool anything(void *ctx)
{
    const memory *m = ctx;
    x_forget(m->position << 8 | m->matters << 4 | 1);
    x_say("look once more");
    return fi_load_relaxed(&work[PIECE]) || fi_load_relaxed(&work[FROM_OUTSIDE]) ||
           (!x_fault("sees_watched") && fi_idle_is_unpolled(&at->idle)) ||
           (!x_fault("sees_time") &&
            fi_load_relaxed(&timers_next) < fi_idle_timer_deadline(&at->idle));
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

static void sleep_past(int self, uint64_t position, bool searching)
{
    memory *m = &of_thread[self];
    int64_t until = fi_load_relaxed(&timers_next);
    *m = (memory){.position = position, .matters = (uint64_t)until & 0xf};
    fi_idle_sleep(&at->idle, &at->sleeper[self], searching, anything, m, until);
}

/* A timer is never due: how it fires is another matter. */
static void find_work(int self, uint64_t position)
{
    bool searching = fi_idle_search_begin(&at->idle, workers());
    x_say("find work");
    while (!searching || !(take_one(PIECE) || take_one(FROM_OUTSIDE))) {
        sleep_past(self, position, searching);
        searching = true;
        x_forget(position << 8 | 2); /* how it came to be awake does not matter */
    }
    if (fi_idle_search_end(&at->idle) && !x_fault("hands_on"))
        fi_idle_notify(&at->idle);
}

/* ---- the others ---- */

static void put_work(void)
{
    x_say("put something to do");
    put |= 1u << PIECE;
    fi_store_relaxed(&work[PIECE], 1);
    fi_idle_notify(&at->idle);
}

static void add_timer(void)
{
    x_say("add a timer");
    fi_store_relaxed(&timers_next, NEAR);
    if (!x_fault("says_first"))
        fi_idle_notify(&at->idle);
}

/* Like sched/caller_runs.c. */
static void be_guest(int self, uint64_t position, bool for_ever)
{
    x_say("borrow");
    fi_sleeper *s = fi_idle_borrow(&at->idle);
    if (!s || for_ever)
        return;
    memory *m = &of_thread[self];
    *m = (memory){position, true, (uint64_t)(s - at->sleeper)};
    x_say("give back");
    fi_idle_return(&at->idle, s, false, anything, m);
}

static void run(int thread)
{
    for (const char *op = ops_of(thread); *op; op++) {
        uint64_t position = strlen(op);
        x_forget(position << 8);
        if (*op == 'P')
            put_work();
        else if (*op == 'A')
            add_timer();
        else if (*op == 'W')
            fi_idle_add_interest(&at->idle);
        else if (*op == 'E')
            tell_kernel(EVENT);
        else if (*op == 'G' || *op == 'K')
            be_guest(thread, position, *op == 'K');
        else
            find_work(thread, position);
    }
    x_forget(0);
}

/* ---- what must be so when nothing goes on ---- */

static bool sleeps(int thread)
{
    return is_worker(thread) && x_peek(&at->sleeper[thread].asleep) == FI_ASLEEP;
}

static const char *at_rest(void)
{
    int64_t until = FI_FUTEX_FOREVER;
    bool any = false, polls = false;

    for (int i = 0; i < program_threads(now); i++) {
        const void *on = x_asleep_on(i);
        if (on && on != &at->sleeper[i].asleep && on != &kernel)
            return "somebody waits for the lock for ever";
        if (on && x_peek(&at->sleeper[i].asleep) == FI_AWAKE)
            return "a worker is woken, and sleeps on";
        if (!sleeps(i))
            continue;
        any = true;
        polls |= on == &kernel;
        until = x_asleep_until(i) < until ? x_asleep_until(i) : until;
    }
    if (!any)
        return NULL;
    if (put & ~taken)
        return "work is left, and a worker sleeps";
    if (x_peek(&at->idle.n_interests) > 0 && !polls)
        return "something is watched, a worker sleeps, and nobody asks the poller";
    if (until > (int64_t)x_peek(&timers_next))
        return "there is a timer, a worker sleeps, and nobody keeps the time";
    return NULL;
}

static uint64_t summary(void)
{
    return put << N | taken;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"maker", "worker 1", "worker 2", "worker 3"};
    return is_worker(thread) || thread == 0 ? names[thread] : "guest";
}

static const char *value_name(uint64_t value)
{
    return value == (uint64_t)FI_FUTEX_FOREVER ? "never" : NULL;
}

void poll_check(check *c, const program *p)
{
    now = p;
    *c = (check){.threads = program_threads(p),
                 .setup = setup,
                 .run = run,
                 .summary = summary,
                 .at_rest = at_rest,
                 .before_unlock = before_unlock,
                 .time_stands = true,
                 .late = late(),
                 .thread_name = thread_name,
                 .value_name = value_name};
}
