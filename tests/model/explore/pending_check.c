/* Who waits for a group goes on when all of it has ended, and not before, and sees what was done; then the group may be
 * gone.  Of a job, one party finds that it has ended, and sees all of it. */
#include "explore/program.h"

#include "base/lock.h"
#include "base/oneshot.h"
#include "explore/mem.h"
#include "job/pending.h"

#include <string.h>

static const program *now;
static fi_pending *word; /* in the arena: it may be freed */
/* The line of those who wait under the group's address, as in sched/lot.c. */
static fi_lock line;
static unsigned in_line; /* a bit for each thread */
static FI_ATOMIC(uint32_t) gate[MAX_THREADS];
static unsigned ended;  /* whose first piece has ended */
static unsigned rounds; /* how often all was done */

static const char *ops_of(int thread)
{
    return thread == 0 ? now->owner : now->thieves[thread - 1];
}

static bool ends_what_was_there(int thread)
{
    return *ops_of(thread) == 'E';
}

/* Who begins with E has a piece of the group from the start. */
static uint32_t pieces_at_first(void)
{
    uint32_t n = 0;
    for (int i = 0; i < program_threads(now); i++)
        n += ends_what_was_there(i);
    return n;
}

static bool of_job(void)
{
    return now->capacity > 0;
}

static void setup(void)
{
    static const char *const gates[] = {"gate 0", "gate 1", "gate 2", "gate 3"};
    in_line = ended = rounds = 0;
    word = FI_NEW(fi_pending);
    x_init(word, pieces_at_first() * FI_PENDING_ONE + (of_job() ? FI_PENDING_OF_JOB : 0),
           "pending");
    x_init(&line.word, 0, "line");
    for (int i = 0; i < program_threads(now); i++)
        x_init(&gate[i], 0, gates[i]);
}

/* What was there from the start, and nobody changes again. */
static void see_the_work(int self)
{
    for (int i = 0; i < program_threads(now); i++) {
        if (i == self || !ends_what_was_there(i))
            continue;
        if (!(ended & 1u << i))
            x_fail(LOST, "all is said to be done, and a piece is not");
        x_data_read(i);
    }
}

/* ---- the line, as in sched/lot.c ---- */

static bool stand_in_line(int self)
{
    x_lock(&line);
    bool stands = x_fault("has_waiters") || fi_pending_has_waiters(word);
    if (stands) {
        x_say("stands in line");
        in_line |= 1u << self;
        fi_store_relaxed(&gate[self], 0);
    }
    x_unlock(&line);
    return stands;
}

static bool step_out(int self)
{
    x_lock(&line);
    bool stood = in_line & 1u << self;
    in_line &= ~(1u << self);
    x_unlock(&line);
    return stood;
}

/* False: the deadline has come first. */
static bool wait_in_line(int self, int64_t deadline)
{
    if (!stand_in_line(self) || fi_oneshot_wait_until(&gate[self], deadline))
        return true;
    if (step_out(self))
        return false;
    fi_oneshot_wait(&gate[self]);
    return true;
}

static void wake_all(void)
{
    x_say("wake those in line");
    x_lock(&line);
    unsigned woken = in_line;
    in_line = 0;
    x_unlock(&line);
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
    see_the_work(self);
}

static void end_piece(int self, bool first)
{
    x_say("ends a piece");
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

/* False: the deadline has come first. */
static bool await(int self, uint64_t position, int64_t deadline)
{
    x_say("fiber_pin");
    while (!fi_pending_is_done(word)) {
        if (fi_pending_set_waiters(word) && !wait_in_line(self, deadline))
            return false;
        x_forget(position + 1);
    }
    return true;
}

static void wait_for_all(int self, char op, uint64_t position)
{
    if (!await(self, position, op == 'D' ? 1 : FI_FUTEX_FOREVER))
        return;
    see_the_work(self);
    if (op == 'F') {
        x_say("gone");
        FI_DELETE(fi_pending, word);
    } else {
        fi_pending_clear_waiters(word);
    }
}

/* A child of a job from somebody who is no part of it. */
static void run_child(int self)
{
    x_say("add a child");
    if (fi_pending_try_add(word))
        end_piece(self, false);
}

static void run(int thread)
{
    const char *ops = ops_of(thread);
    for (const char *op = ops; *op; op++) {
        uint64_t position = 2 * strlen(op);
        x_forget(position);
        if (*op == 'E')
            end_piece(thread, op == ops);
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
    return (in_line << MAX_THREADS | ended) << 4 | rounds;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"thread 0", "thread 1", "thread 2", "thread 3"};
    return names[thread];
}

static const char *data_name(int datum)
{
    (void)datum;
    return "the work of a piece";
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
