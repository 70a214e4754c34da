/* A waiter of a group goes on after all members have ended, and sees their work.  Then the group
 * may be gone.  Of a job, one thread finds that it is done, and sees all of its work. */
#include "explore/program.h"

#include "base/lock.h"
#include "base/oneshot.h"
#include "explore/mem.h"
#include "job/pending.h"

#include <string.h>

static const program *now;
static fi_pending *word; /* in the arena, as it may be freed */
/* The wait queue of the group's address, as in sched/lot.c. */
static fi_lock queue_lock;
static unsigned in_queue; /* a bit for each thread */
static FI_ATOMIC(uint32_t) gate[MAX_THREADS];
static unsigned ended;  /* threads whose first member has ended */
static unsigned rounds; /* how often all members were done */

static const char *ops_of(int thread)
{
    return thread == 0 ? now->owner : now->thieves[thread - 1];
}

static bool has_first_member(int thread)
{
    return *ops_of(thread) == 'E';
}

/* A thread whose program begins with E has a member from the start. */
static uint32_t first_members(void)
{
    uint32_t n = 0;
    for (int i = 0; i < program_threads(now); i++)
        n += has_first_member(i);
    return n;
}

static bool of_job(void)
{
    return now->capacity > 0;
}

static void setup(void)
{
    static const char *const gates[] = {"gate 0", "gate 1", "gate 2", "gate 3"};
    in_queue = ended = rounds = 0;
    word = FI_NEW(fi_pending);
    x_init(word, first_members() * FI_PENDING_ONE + (of_job() ? FI_PENDING_OF_JOB : 0), "pending");
    x_init(&queue_lock.word, 0, "queue");
    for (int i = 0; i < program_threads(now); i++)
        x_init(&gate[i], 0, gates[i]);
}

/* Read the work of the first members, which no thread writes again. */
static void read_work(int self)
{
    for (int i = 0; i < program_threads(now); i++) {
        if (i == self || !has_first_member(i))
            continue;
        if (!(ended & 1u << i))
            x_fail(LOST, "the group is done before a member has ended");
        x_data_read(i);
    }
}

/* ---- the wait queue, as in sched/lot.c ---- */

static bool enter_queue(int self)
{
    x_lock(&queue_lock);
    bool waits = x_fault("has_waiters") || fi_pending_has_waiters(word);
    if (waits) {
        x_say("enters the wait queue");
        in_queue |= 1u << self;
        fi_store_relaxed(&gate[self], 0);
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
    if (!enter_queue(self) || fi_oneshot_wait_until(&gate[self], deadline))
        return true;
    if (leave_queue(self))
        return false;
    fi_oneshot_wait(&gate[self]);
    return true;
}

static void wake_all(void)
{
    x_say("wakes the wait queue");
    x_lock(&queue_lock);
    unsigned woken = in_queue;
    in_queue = 0;
    x_unlock(&queue_lock);
    for (int i = 0; i < program_threads(now); i++)
        if (woken & 1u << i)
            fi_oneshot_set(&gate[i]);
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
    if (x_fault("reads_again"))
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

static void run(int thread)
{
    const char *ops = ops_of(thread);
    for (const char *op = ops; *op; op++) {
        uint64_t position = 2 * strlen(op);
        x_forget(position);
        if (*op == 'E')
            end_member(thread, op == ops);
        else if (*op == 'R')
            fi_pending_add(word);
        else if (*op == 'C')
            run_child(thread);
        else
            wait_for_all(thread, *op, position);
    }
    x_forget(0);
}

static uint64_t summary(void)
{
    return (in_queue << MAX_THREADS | ended) << 4 | rounds;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"thread 0", "thread 1", "thread 2", "thread 3"};
    return names[thread];
}

static const char *data_name(int datum)
{
    (void)datum;
    return "the work of a member";
}

static const char *value_name(uint64_t value)
{
    (void)value;
    return NULL;
}

void pending_check(check *c, const program *p)
{
    now = p;
    *c = (check){.threads = program_threads(p),
                 .races = true,
                 .setup = setup,
                 .run = run,
                 .summary = summary,
                 .thread_name = thread_name,
                 .data_name = data_name,
                 .value_name = value_name};
}
