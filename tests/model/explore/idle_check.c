/* Work that was put where others find it does not lie there while a worker sleeps; and a worker is in one
 * thread's hands at a time, its own or a guest's. */
#include "explore/program.h"

#include "base/futex.h"
#include "explore/mem.h"
#include "sched/idle.h"

#include <string.h>

enum { MAX_WORK = 4 };

/* In the arena, as the list of sleepers is part of the state. */
typedef struct place {
    fi_idle idle;
    fi_sleeper sleeper[MAX_THREADS];
} place;

static const program *now;
static place *at;
static FI_ATOMIC(uint32_t) work[MAX_WORK]; /* 1: here is a piece.  The loosest of queues */
static FI_ATOMIC(uint32_t) stopping;
static FI_ATOMIC(uint32_t) all_done; /* who holds a worker waits for it */
static unsigned put, taken;          /* one bit per piece */
static bool stopped;

static const char *ops_of(int thread)
{
    return thread == 0 ? now->owner : now->thieves[thread - 1];
}

static int count(const char *ops, const char *letters)
{
    int n = 0;
    for (; *ops; ops++)
        n += strchr(letters, *ops) != NULL;
    return n;
}

/* Pieces are numbered through the program. */
static int pieces_before(int thread)
{
    int n = 0;
    for (int i = 0; i < thread; i++)
        n += count(ops_of(i), "P");
    return n;
}

static int pieces(void)
{
    return pieces_before(program_threads(now));
}

static unsigned workers(void)
{
    unsigned n = 0;
    for (int i = 0; i < program_threads(now); i++)
        n += count(ops_of(i), "TDB") > 0;
    return n;
}

static bool has(const char *letters)
{
    for (int i = 0; i < program_threads(now); i++)
        if (count(ops_of(i), letters) > 0)
            return true;
    return false;
}

/* What fi_idle_init_asleep does before there are threads. */
static void lay_down(void)
{
    uint32_t n = 0;
    for (int i = 0; i < program_threads(now); i++) {
        fi_sleeper *s = &at->sleeper[i];
        if (*ops_of(i) != 'B')
            continue;
        fi_atomic_init(&s->asleep, FI_ASLEEP);
        s->next = at->idle.sleepers;
        at->idle.sleepers = s;
        n++;
    }
    if (n > 0)
        fi_atomic_init(&at->idle.state, n);
}

static void setup(void)
{
    static const char *const words[] = {"work[0]", "work[1]", "work[2]", "work[3]"};
    static const char *const asleep[] = {"asleep 0", "asleep 1", "asleep 2", "asleep 3"};
    put = taken = 0;
    stopped = false;
    at = FI_NEW(place);
    fi_idle_init(&at->idle);
    x_init(&stopping, 0, "stopping");
    x_init(&all_done, 0, "all done");
    for (int i = 0; i < program_threads(now); i++)
        x_init(&at->sleeper[i].asleep, 0, asleep[i]);
    lay_down();
    if (pieces() > MAX_WORK)
        x_fail(LIMIT, "at most %d pieces of work", MAX_WORK);
    for (int i = 0; i < pieces(); i++)
        x_init(&work[i], 0, words[i]);
}

/* ---- who makes work ---- */

static void put_work(int piece)
{
    x_say("put %c", 'A' + piece);
    put |= 1u << piece;
    fi_store_relaxed(&work[piece], 1);
    fi_idle_notify(&at->idle);
}

static void stop(void)
{
    x_say("stop");
    stopped = true;
    fi_store_relaxed(&stopping, 1);
    fi_idle_wake_all(&at->idle);
}

/* ---- who looks for work, as in sched/find_work.c ---- */

static bool anything(void *position)
{
    x_forget(*(uint64_t *)position + 1);
    if (x_fault("recheck"))
        return false;
    x_say("look once more");
    if (fi_load_relaxed(&stopping))
        return true;
    for (int i = 0; i < pieces(); i++)
        if (fi_load_relaxed(&work[i]))
            return true;
    return false;
}

static bool take(void)
{
    for (int i = 0; i < pieces(); i++) {
        uint32_t one = 1;
        if (!fi_load_relaxed(&work[i]) || !fi_cas_relaxed(&work[i], &one, 0))
            continue;
        x_say("takes %c", 'A' + i);
        if (taken & 1u << i)
            x_fail(TWICE, "piece %c is taken twice", 'A' + i);
        taken |= 1u << i;
        if (has("H") && taken == (1u << pieces()) - 1) {
            fi_store_relaxed(&all_done, 1);
            fi_futex_wake(&all_done, MAX_THREADS);
        }
        return true;
    }
    return false;
}

static void found(void)
{
    if (fi_idle_search_end(&at->idle) && !x_fault("handing_on"))
        fi_idle_notify(&at->idle);
}

/* Of one that searches, until it has found something or all is to stop. */
static void search_and_sleep(int self, uint64_t position, bool searching, int64_t deadline)
{
    while (!fi_load_relaxed(&stopping)) {
        if (searching && take()) {
            found();
            return;
        }
        fi_idle_sleep(&at->idle, &at->sleeper[self], searching, anything, &position, deadline);
        x_data_write(self);
        searching = true;
        deadline = FI_FUTEX_FOREVER;
        x_forget(position + 2); /* how it came to be awake does not matter */
    }
}

static void find_work(int self, uint64_t position, int64_t deadline)
{
    x_say("find work");
    x_data_write(self);
    search_and_sleep(self, position, fi_idle_search_begin(&at->idle, workers()), deadline);
}

/* Asleep from the start, as all workers are. */
static void begin_asleep(int self, uint64_t position)
{
    fi_idle_wait(&at->sleeper[self]);
    x_data_write(self);
    x_forget(position + 2);
    search_and_sleep(self, position, true, FI_FUTEX_FOREVER);
}

/* ---- who borrows a worker, as in sched/caller_runs.c ---- */

static void be_guest(uint64_t position, bool until_all_done)
{
    x_say("borrow");
    fi_sleeper *s = fi_idle_borrow(&at->idle);
    if (!s)
        return;
    int worker = (int)(s - at->sleeper);
    x_say("use worker %d", worker);
    x_data_write(worker);
    while (until_all_done && !fi_load_relaxed(&all_done))
        fi_futex_wait(&all_done, 0, FI_FUTEX_FOREVER);
    bool searching = !until_all_done && fi_idle_search_begin(&at->idle, workers());
    x_say("give back");
    fi_idle_return(&at->idle, s, searching, anything, &position);
}

/* ---- who waits until all is quiet, as in sched/runtime.c ---- */

static bool is_quiet(void *ctx)
{
    (void)ctx;
    for (int i = 0; i < program_threads(now); i++)
        if (count(ops_of(i), "TDB") > 0)
            x_data_read(i);
    return taken == (1u << pieces()) - 1;
}

static void await_quiet(void)
{
    x_say("wait until all is quiet");
    if (!fi_idle_wait_all_asleep(&at->idle, workers(), is_quiet, NULL, FI_FUTEX_FOREVER))
        x_fail(WRONG, "all is said not to be quiet, and there was no deadline");
    x_say("all is quiet");
}

static void run(int thread)
{
    int piece = pieces_before(thread);
    for (const char *op = ops_of(thread); *op; op++) {
        uint64_t position = 4 * strlen(op);
        x_forget(position);
        if (*op == 'P')
            put_work(piece++);
        else if (*op == 'S')
            stop();
        else if (*op == 'G' || *op == 'H')
            be_guest(position, *op == 'H');
        else if (*op == 'Q')
            await_quiet();
        else if (*op == 'B')
            begin_asleep(thread, position);
        else
            find_work(thread, position, *op == 'D' ? 1 : FI_FUTEX_FOREVER);
    }
    x_forget(0);
}

static const char *at_rest(void)
{
    for (int i = 0; i < program_threads(now); i++)
        if (x_asleep_on(i) && x_asleep_on(i) != &at->sleeper[i].asleep &&
            x_asleep_on(i) != &all_done && x_asleep_on(i) != &at->idle.quiesce_seq)
            return "somebody waits for the lock for ever";
    if (stopped)
        return "all is to stop, and a worker sleeps";
    if (put & ~taken)
        return "work is left, and a worker sleeps";
    for (int i = 0; i < program_threads(now); i++)
        if (x_asleep_on(i) == &at->idle.quiesce_seq)
            return "all is quiet, and who waits for that is not told";
    return NULL;
}

static uint64_t summary(void)
{
    return (put << MAX_WORK | taken) << 1 | stopped;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"maker", "worker 1", "worker 2", "worker 3"};
    return names[thread];
}

static const char *data_name(int datum)
{
    static const char *const names[] = {"worker 0", "worker 1", "worker 2", "worker 3"};
    return names[datum];
}

static const char *value_name(uint64_t value)
{
    (void)value;
    return NULL;
}

void idle_check(check *c, const program *p)
{
    now = p;
    *c = (check){.threads = program_threads(p),
                 .races = (has("G") && !has("H")) || has("Q"),
                 .setup = setup,
                 .run = run,
                 .summary = summary,
                 .at_rest = at_rest,
                 .thread_name = thread_name,
                 .data_name = data_name,
                 .value_name = value_name};
}
