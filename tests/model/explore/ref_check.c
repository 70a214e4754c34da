/* A record is freed once, when its job is done and given up, by somebody who sees all that was done to it; and a
 * number of an earlier job in the same record gives up no later one. */
#include "explore/program.h"

#include "base/lock.h"
#include "explore/mem.h"
#include "job/ref.h"

#include <string.h>

enum { RECORD = 0 };

static const program *now;
static fi_ref ref;
static fi_lock pool;    /* hands the record on */
static bool is_free;    /* it is in the pool */
static uint32_t number; /* of the job that is in it, or was the last */
static unsigned
    gone[2]; /* the reasons that somebody took away, in the first life and in the second */

static void setup(void)
{
    is_free = false;
    number = 1;
    gone[0] = gone[1] = 0;
    x_init(&ref, FI_REF_GENERATION + FI_REF_ALL + (now->capacity ? FI_REF_KEPT : 0), "ref");
    x_init(&pool.word, 0, "pool");
}

static void use(uint32_t mine)
{
    if (is_free || number != mine)
        x_fail(FREED, "the record is used when it is no longer that job's");
    x_data_read(RECORD);
}

static void free_record(void)
{
    x_say("free the record");
    x_data_write(RECORD);
    x_lock(&pool);
    if (is_free)
        x_fail(TWICE, "the record is freed twice");
    is_free = true;
    x_unlock(&pool);
}

static bool take_record(void)
{
    x_lock(&pool);
    bool taken = is_free;
    is_free = false;
    x_unlock(&pool);
    return taken;
}

/* ---- as in job/ref.c ---- */

static void drop(uint32_t mine, uint32_t reason)
{
    x_say(reason == FI_REF_USER ? "release it" : "it is done");
    use(mine);
    gone[mine - 1] |= reason;
    if (fi_ref_drop(&ref, reason))
        free_record();
}

/* Its user has used it, then made another job come after it, and that is over. */
static void use_for_the_last_time(void)
{
    use(1);
    gone[0] |= FI_REF_USER;
}

/* By a link of a job that came after the first in this record. */
static void give_up(void)
{
    x_say("give it up");
    if (fi_ref_give_up(&ref, x_fault("number") ? fi_ref_generation(&ref) : 1))
        free_record();
}

/* Another job in the same record. */
static bool begin(void)
{
    x_say("take a record");
    if (!take_record())
        return false;
    x_data_write(RECORD);
    number++;
    x_say("begin job 2");
    fi_ref_init(&ref);
    return true;
}

static void run_ops(const char *ops)
{
    uint32_t mine = 1;
    for (const char *op = ops; *op; op++) {
        x_forget(strlen(op) * 4 + mine);
        if (*op == 'D' || *op == 'R')
            drop(mine, *op == 'D' ? FI_REF_RUN : FI_REF_USER);
        else if (*op == 'U')
            use_for_the_last_time();
        else if (*op == 'G')
            give_up();
        else if (!begin())
            break;
        else
            mine = 2;
    }
}

static void look_at_the_end(void)
{
    x_join();
    uint32_t word = fi_load_relaxed(&ref);
    if (is_free != (gone[number - 1] == FI_REF_ALL))
        x_fail(is_free ? TWICE : LOST, is_free ? "the record is free, and its job is not over"
                                               : "the record is never freed");
    if ((word & FI_REF_ALL) != (FI_REF_ALL & ~gone[number - 1]))
        x_fail(WRONG, "somebody gave up another's job");
}

static void run(int thread)
{
    run_ops(thread == 0 ? now->owner : now->thieves[thread - 1]);
    x_forget(thread == 0 ? 1 : 2);
    if (thread == 0)
        look_at_the_end();
}

static uint64_t summary(void)
{
    return ((uint64_t)number << 4 | gone[0] << 2 | gone[1]) << 1 | is_free;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"worker", "user 1", "user 2", "user 3"};
    return names[thread];
}

static const char *data_name(int datum)
{
    (void)datum;
    return "the record";
}

static const char *value_name(uint64_t value)
{
    static const char *const reasons[] = {"over", "unfinished", "held", "both"};
    return value < FI_REF_GENERATION ? NULL : reasons[value & FI_REF_ALL];
}

void ref_check(check *c, const program *p)
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
