/* Submitted work is not left in a queue while a worker sleeps.  One thread at a time uses a worker:
 * its own thread or a borrower.
 *
 * All: P submit a piece of work and notify, T find work and take a piece, sleeping when there is
 * none, D the same with a deadline for the first sleep, S stop all workers, B (the only operation
 * of its thread) like T for a worker that is asleep from the start, G borrow a worker, search, and
 * return it, H keep it until others have done all work, Q (once) wait until all workers sleep and
 * no work is left.  A program with Q gives each worker a T that finds none.  N (once) submit a
 * piece of work that only worker 1 may take, and wake that worker.  A thread after its last
 * operation stands for a busy worker.  No work is left while a worker sleeps that may take it, and
 * no worker sleeps after a stop. */
#include "explore/kind.h"

#include "base/futex.h"
#include "explore/workers.h"

enum { MAX_WORK = 4, BOUND = MAX_WORK, BOUND_WORKER = 1 };

/* What a thread that checks for work still needs. */
typedef struct checker {
    uint64_t position;
    int worker; /* that it runs, or is about to return */
} checker;

static workers *at;
static FI_ATOMIC(
    uint32_t) work[MAX_WORK + 1]; /* 1: a piece is here.  A queue with relaxed accesses only */
static FI_ATOMIC(uint32_t) stopping;
static FI_ATOMIC(uint32_t) all_done; /* a borrower that keeps its worker waits for it */
static unsigned submitted, taken;    /* one bit per piece */
static bool stopped;

/* Pieces are numbered through the program. */
static int pieces(void)
{
    return program_count("P", program_threads(), 0);
}

static bool is_worker(int thread)
{
    return thread_has(thread, "TDB");
}

static unsigned n_workers(void)
{
    unsigned n = 0;
    for (int i = 0; i < program_threads(); i++)
        n += is_worker(i);
    return n;
}

/* As fi_idle_init_asleep, which runs before there are threads. */
static void init_asleep(void)
{
    uint32_t n = 0;
    for (int i = 0; i < program_threads(); i++) {
        fi_sleeper *s = &at->sleeper[i];
        if (*program_ops(i) != 'B')
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
    submitted = taken = 0;
    stopped = false;
    at = FI_NEW(workers);
    workers_init(at);
    x_init(&stopping, 0, "stopping");
    x_init(&all_done, 0, "all done");
    init_asleep();
    if (pieces() > MAX_WORK)
        x_fail(LIMIT, "at most %d pieces of work", MAX_WORK);
    for (int i = 0; i < pieces(); i++)
        x_init(&work[i], 0, words[i]);
    if (program_has("N"))
        x_init(&work[BOUND], 0, "bound work");
}

/* ---- threads that submit work ---- */

static void submit_work(int piece)
{
    x_say("submit %c", 'A' + piece);
    submitted |= 1u << piece;
    fi_store_relaxed(&work[piece], 1);
    fi_idle_notify(&at->idle);
}

/* As fi_bound_submit and fi_bound_push in sched/bound.c. */
static void submit_bound(void)
{
    fi_sleeper *s = &at->sleeper[BOUND_WORKER];
    x_say("submit work for worker %d", BOUND_WORKER);
    fi_idle_bind(&at->idle, s, true);
    submitted |= 1u << BOUND;
    fi_store_relaxed(&work[BOUND], 1);
    fi_idle_wake_this(&at->idle, s);
}

static void stop(void)
{
    x_say("stop");
    stopped = true;
    fi_store_relaxed(&stopping, 1);
    fi_idle_wake_all(&at->idle);
}

/* ---- workers, as in sched/find_work.c ---- */

static bool may_take_bound(int worker)
{
    return worker == BOUND_WORKER && program_has("N");
}

static bool anything(void *ctx)
{
    const checker *c = ctx;
    x_forget(c->position + 1 + ((uint64_t)c->worker << 8));
    if (x_fault("recheck"))
        return false;
    x_say("check once more");
    if (fi_load_relaxed(&stopping))
        return true;
    if (may_take_bound(c->worker) && !x_fault("recheck_bound") && fi_load_relaxed(&work[BOUND]))
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
        if (program_has("H") && taken == (1u << pieces()) - 1) {
            fi_store_relaxed(&all_done, 1);
            fi_futex_wake(&all_done, MAX_THREADS);
        }
        return true;
    }
    return false;
}

static bool take_bound(int self)
{
    if (!may_take_bound(self) || !fi_load_relaxed(&work[BOUND]))
        return false;
    x_say("takes the bound work");
    fi_store_relaxed(&work[BOUND], 0);
    taken |= 1u << BOUND;
    return true;
}

static void end_search(void)
{
    if (fi_idle_search_end(&at->idle) && !x_fault("last_searcher_notifies"))
        fi_idle_notify(&at->idle);
}

/* Search until there is work or a stop. */
static void search_and_sleep(int self, uint64_t position, bool searching, int64_t deadline)
{
    while (!fi_load_relaxed(&stopping)) {
        if (searching && (take_bound(self) || take())) {
            end_search();
            return;
        }
        checker c = {position, self};
        fi_idle_sleep(&at->idle, &at->sleeper[self], searching, anything, &c, deadline);
        x_data_write(self);
        searching = true;
        deadline = FI_FUTEX_FOREVER;
        x_forget(position + 2); /* what woke it does not matter */
    }
}

static void find_work(int self, uint64_t position, int64_t deadline)
{
    x_say("find work");
    x_data_write(self);
    search_and_sleep(self, position, fi_idle_search_begin(&at->idle, n_workers()), deadline);
}

/* A worker that was never awake. */
static void start_asleep(int self, uint64_t position)
{
    fi_idle_wait(&at->sleeper[self]);
    x_data_write(self);
    x_forget(position + 2);
    search_and_sleep(self, position, true, FI_FUTEX_FOREVER);
}

/* ---- borrowers, as in sched/caller_runs.c ---- */

static void borrow_and_return(uint64_t position, bool until_all_done)
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
    bool searching = !until_all_done && fi_idle_search_begin(&at->idle, n_workers());
    x_say("return it");
    fi_idle_return(&at->idle, s, searching, anything, &(checker){position, worker});
}

/* ---- quiescence, as in sched/runtime.c ---- */

static bool is_quiescent(void *ctx)
{
    (void)ctx;
    for (int i = 0; i < program_threads(); i++)
        if (is_worker(i))
            x_data_read(i);
    return taken == (1u << pieces()) - 1;
}

static void wait_quiescent(void)
{
    x_say("wait until all workers sleep");
    if (!fi_idle_wait_all_asleep(&at->idle, n_workers(), is_quiescent, NULL, FI_FUTEX_FOREVER))
        x_fail(WRONG, "the wait timed out without a deadline");
    x_say("all workers sleep");
}

static void operate(const operation *op)
{
    switch (op->letter) {
    case 'P':
        submit_work(program_count("P", op->thread, op->index));
        break;
    case 'N':
        submit_bound();
        break;
    case 'S':
        stop();
        break;
    case 'G':
    case 'H':
        borrow_and_return(op->position, op->letter == 'H');
        break;
    case 'Q':
        wait_quiescent();
        break;
    case 'B':
        start_asleep(op->thread, op->position);
        break;
    default:
        find_work(op->thread, op->position, op->letter == 'D' ? 1 : FI_FUTEX_FOREVER);
    }
}

static void adjust(check *c)
{
    c->races = (program_has("G") && !program_has("H")) || program_has("Q");
}

static const char *at_rest(void)
{
    for (int i = 0; i < program_threads(); i++)
        if (x_asleep_on(i) && x_asleep_on(i) != &at->sleeper[i].asleep &&
            x_asleep_on(i) != &all_done && x_asleep_on(i) != &at->idle.quiesce_seq)
            return "a thread waits for the lock for ever";
    if (stopped)
        return "the workers are stopped, and one sleeps";
    if (submitted & ~taken & ~(1u << BOUND))
        return "work is left, and a worker sleeps";
    if (submitted & ~taken && x_asleep_on(BOUND_WORKER))
        return "bound work is left, and its worker sleeps";
    for (int i = 0; i < program_threads(); i++)
        if (x_asleep_on(i) == &at->idle.quiesce_seq)
            return "all workers sleep, and the thread that waits for that is not woken";
    return NULL;
}

static uint64_t summary(void)
{
    return (submitted << (MAX_WORK + 1) | taken) << 1 | stopped;
}

/* Two threads first: the mutants stop at the first program that fails. */
static const program programs[] = {
    {0, 0, "P", {"T"}},      {0, 0, "P", {"D"}},      {0, 0, "N", {"T"}},
    {0, 0, "PS", {"T"}},     {0, 0, "GP", {"T"}},     {0, 0, "GQ", {"T"}},
    {0, 0, "PP", {"TT"}},    {0, 0, "PQS", {"TT"}},   {0, 0, "PH", {"B", "T"}},
    {0, 0, "P", {"T", "T"}}, {0, 0, "P", {"T", "P"}}, {0, 0, "P", {"T", "G"}},
    {0, 0, "N", {"T", "G"}}, {0, 0, "N", {"T", "P"}}, {0, 0, "Q", {"T", "G"}},
    {0, 0, "Q", {"T", "T"}}, {0, 0, NULL, {NULL}},
};

static const program large_programs[] = {
    {0, 0, "PP", {"T", "T"}}, {0, 0, "P", {"TP", "T"}},      {0, 0, "P", {"D", "T"}},
    {0, 0, "S", {"T", "T"}},  {0, 0, "PH", {"B", "B", "G"}}, {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("no fence in notify", "idle.notify.fence", ORDER_NONE, HANG, HANG, HANG),
    WEAKER("a fence in notify that is not seq_cst", "idle.notify.fence", ORDER_ACQ_REL, HANG, HANG,
           HANG),
    WEAKER("no fence in sleep", "idle.sleep.fence", ORDER_NONE, HANG, HANG, OK),
    WEAKER("a fence in sleep that is not seq_cst", "idle.sleep.fence", ORDER_ACQ_REL, HANG, HANG,
           OK),
    FAULT("no last check before sleep", "recheck", HANG, HANG, HANG),
    WEAKER("wakes relaxed", "idle.wake", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("checks relaxed whether it is woken", "idle.woken", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("no fence in return", "idle.return.fence", ORDER_NONE, HANG, HANG, OK),
    FAULT("lent at its last check, and wakes no worker", "idle.sleep_notifies", HANG, HANG, HANG),
    {.what = "returned and lent again, and wakes no worker",
     .weaken = {{"idle.return_notifies", ORDER_NONE}},
     .expected = {OK, OK, HANG},
     .why_kept = "on rc11 idle:0:0:PH:B,B,G hangs as well: try it by hand"},
    FAULT("the last searcher does not notify", "last_searcher_notifies", HANG, HANG, HANG),
    WEAKER("no fence before a certain worker is woken", "idle.wake_this.fence", ORDER_NONE, HANG,
           HANG, HANG),
    WEAKER("a fence before a certain worker is woken that is not seq_cst", "idle.wake_this.fence",
           ORDER_ACQ_REL, HANG, HANG, HANG),
    FAULT("no last check for bound work", "recheck_bound", HANG, HANG, HANG),
    {.what = NULL},
};

const kind idle_kind = {
    .name = "idle",
    .owner = "PTDSGHBQN",
    .thief = "PTDSGHBQN",
    .programs = programs,
    .large_programs = large_programs,
    .mutants = mutants,
    .threads = OWNER_AND("submitter", "worker"),
    .data = NUMBERED("worker"),
    .setup = setup,
    .operate = operate,
    .summary = summary,
    .at_rest = at_rest,
    .adjust = adjust,
};
