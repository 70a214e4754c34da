/* A waiter of a group continues after all members have ended, and sees their work.  Then the group
 * may be freed.  One thread finds that a job is done, and sees all of its work.
 *
 * The group belongs to a job if `capacity` is 1.  All: E end a member (as first letter: one that
 * was there from the start), R add a member, C add a member unless all are done, and end it, W wait
 * until all are done, D the same with a deadline, F the same and free the group.  Waiters are woken
 * and see all work.  The job is finished once. */
#include "explore/kind.h"

#include "base/lock.h"
#include "base/oneshot.h"
#include "explore/mem.h"
#include "job/pending.h"

static fi_pending *word; /* in the arena, as it may be freed */
/* The wait queue of the group's address, as in wait/parking_lot.c. */
static fi_lock queue_lock;
static unsigned in_queue; /* a bit for each thread */
static FI_ATOMIC(uint32_t) event[MAX_THREADS];
static unsigned ended;  /* threads whose first member has ended */
static unsigned rounds; /* how often all members were done */

static bool has_first_member(int thread)
{
    return *program_ops(thread) == 'E';
}

/* A thread whose program begins with E has a member from the start. */
static uint32_t first_members(void)
{
    uint32_t n = 0;
    for (int i = 0; i < program_threads(); i++)
        n += has_first_member(i);
    return n;
}

static bool of_job(void)
{
    return program_now->capacity > 0;
}

static void setup(void)
{
    static const char *const events[] = NUMBERED("event");
    in_queue = ended = rounds = 0;
    word = FI_NEW(fi_pending);
    x_init(word, first_members() * FI_PENDING_ONE + (of_job() ? FI_PENDING_OF_JOB : 0), "pending");
    x_init(&queue_lock.word, 0, "queue");
    for (int i = 0; i < program_threads(); i++)
        x_init(&event[i], 0, events[i]);
}

/* Read the work of the first members, which no thread writes again. */
static void read_work(int self)
{
    for (int i = 0; i < program_threads(); i++) {
        if (i == self || !has_first_member(i))
            continue;
        if (!(ended & 1u << i))
            x_fail(LOST, "the group is done before a member has ended");
        x_data_read(i);
    }
}

/* ---- the wait queue, as in wait/parking_lot.c ---- */

static bool enter_queue(int self)
{
    x_lock(&queue_lock);
    bool waits = x_fault("has_waiters") || fi_pending_has_waiters(word);
    if (waits) {
        x_say("enters the wait queue");
        in_queue |= 1u << self;
        fi_store_relaxed(&event[self], 0);
    }
    x_unlock(&queue_lock);
    return waits;
}

static bool leave_queue(int self)
{
    x_lock(&queue_lock);
    bool was_in = in_queue & 1u << self;
    in_queue &= ~(1u << self);
    x_unlock(&queue_lock);
    return was_in;
}

/* False: the deadline came first. */
static bool wait_in_queue(int self, int64_t deadline)
{
    if (!enter_queue(self) || fi_oneshot_wait_until(&event[self], deadline))
        return true;
    if (leave_queue(self))
        return false;
    fi_oneshot_wait(&event[self]);
    return true;
}

static void wake_all(void)
{
    x_say("wakes the wait queue");
    x_lock(&queue_lock);
    unsigned woken = in_queue;
    in_queue = 0;
    x_unlock(&queue_lock);
    for (int i = 0; i < program_threads(); i++)
        if (woken & 1u << i)
            fi_oneshot_set(&event[i]);
}

/* ---- groups, as in job/group.c and job/job.c ---- */

static void end_of_job(int self)
{
    x_say("the job is done");
    if (rounds > 1)
        x_fail(TWICE, "the job ends twice");
    fi_pending_acquire(word);
    read_work(self);
}

static void end_member(int self, bool first)
{
    x_say("ends a member");
    if (first) {
        x_data_write(self);
        ended |= 1u << self;
    }
    uint32_t left = fi_pending_sub(word, 1);
    if (left >= FI_PENDING_ONE)
        return;
    rounds++;
    if (x_fault("wake_without_reload"))
        left = fi_load_relaxed(word);
    if (left & FI_PENDING_WAITERS)
        wake_all();
    if (left & FI_PENDING_OF_JOB)
        end_of_job(self);
}

/* False: the deadline came first. */
static bool wait_done(int self, uint64_t position, int64_t deadline)
{
    x_say("waits");
    while (!fi_pending_is_done(word)) {
        if (fi_pending_set_waiters(word) && !wait_in_queue(self, deadline))
            return false;
        x_forget(position + 1);
    }
    return true;
}

static void wait_for_all(int self, char op, uint64_t position)
{
    if (!wait_done(self, position, op == 'D' ? 1 : FI_FUTEX_FOREVER))
        return;
    read_work(self);
    if (op == 'F') {
        x_say("frees the group");
        FI_DELETE(fi_pending, word);
    } else {
        fi_pending_clear_waiters(word);
    }
}

/* Add a child from a thread that is not a member of the job. */
static void run_child(int self)
{
    x_say("adds a child");
    if (fi_pending_try_add(word))
        end_member(self, false);
}

static void operate(const operation *op)
{
    if (op->letter == 'E')
        end_member(op->thread, op->index == 0);
    else if (op->letter == 'R')
        fi_pending_add(word);
    else if (op->letter == 'C')
        run_child(op->thread);
    else
        wait_for_all(op->thread, op->letter, op->position);
}

static uint64_t summary(void)
{
    return (in_queue << MAX_THREADS | ended) << 4 | rounds;
}

static const program programs[] = {
    {0, 0, "E", {"W"}},      {0, 0, "E", {"F"}},        {0, 0, "E", {"D"}},
    {1, 0, "E", {"E"}},      {1, 0, "E", {"C"}},        {0, 0, "E", {"E", "F"}},
    {1, 0, "E", {"E", "C"}}, {1, 0, "E", {"C", "W"}},   {0, 0, "E", {"W", "W"}},
    {0, 0, "E", {"W", "D"}}, {0, 0, "E", {"WRE", "W"}}, {0, 0, "E", {"WREW", "W"}},
    {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("counts members as done relaxed", "pending.sub", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("finishes a job after a relaxed load", "pending.last", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("checks relaxed whether all are done", "pending.check", ORDER_RELAXED, RACE, RACE, RACE),
    FAULT("waits without checking again", "has_waiters", HANG, HANG, HANG),
    FAULT("reads the mark of waiters again after the last member", "wake_without_reload", RACE,
          RACE, RACE),
    {.what = NULL},
};

const kind pending_kind = {
    .name = "pending",
    .owner = "ERCWDF",
    .thief = "ERCWDF",
    .programs = programs,
    .mutants = mutants,
    .threads = NUMBERED("thread"),
    .data = {"the work of a member"},
    .races = true,
    .setup = setup,
    .operate = operate,
    .summary = summary,
};
