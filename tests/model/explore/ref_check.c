/* The record of a job is freed once, after both references were dropped, by a thread that has
 * seen all uses.
 *
 * All: D the job is done, R its user releases it, H its user hands it over, N take the record, if
 * it is free, for another job, to which later letters of the thread apply.  The record is freed
 * once. */
#include "explore/kind.h"

#include "base/lock.h"
#include "explore/mem.h"
#include "job/ref.h"

#include <string.h>

enum { RECORD = 0 };

static fi_ref ref;
static fi_lock pool; /* orders one use of the record after the other */
static bool is_free; /* the record is in the pool */
static uint32_t generation;
static unsigned dropped[2]; /* references of the first and of the second generation */

static void setup(void)
{
    is_free = false;
    generation = 1;
    dropped[0] = dropped[1] = 0;
    x_init(&ref, FI_REF_GENERATION + FI_REF_ALL, "ref");
    x_init(&pool.word, 0, "pool");
}

static void use(uint32_t mine)
{
    if (is_free || generation != mine)
        x_fail(FREED, "the record is used after it was freed");
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

/* ---- as in job/job.c ---- */

static void drop(uint32_t mine, uint32_t holder)
{
    x_say(holder == FI_REF_USER ? "release the job" : "the job is done");
    use(mine);
    dropped[mine - 1] |= holder;
    if (holder == FI_REF_RUN ? fi_ref_drop_run(&ref) : fi_ref_drop(&ref, FI_REF_USER))
        free_record();
}

/* Submit it with a parent or a group.  In job.c the queue publishes the user's accesses; here
 * the run comes next in the same thread. */
static void hand_over(uint32_t mine)
{
    x_say("hand the job over");
    use(mine);
    dropped[mine - 1] |= FI_REF_USER;
    fi_ref_hand_over(&ref);
}

/* Another job in the same record. */
static bool take_and_init(void)
{
    x_say("take a record");
    if (!take_record())
        return false;
    x_data_write(RECORD);
    generation++;
    x_say("start generation 2");
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
        else if (*op == 'H')
            hand_over(mine);
        else if (!take_and_init())
            break;
        else
            mine = 2;
    }
}

static void check_end(void)
{
    uint32_t word = fi_load_relaxed(&ref);
    if (is_free != (dropped[generation - 1] == FI_REF_ALL))
        x_fail(is_free ? TWICE : LOST, is_free ? "the record is free, and a reference is held"
                                               : "the record is never freed");
    if ((word & FI_REF_ALL) != (FI_REF_ALL & ~dropped[generation - 1]))
        x_fail(WRONG, "a reference of another generation was dropped");
}

static void run(int thread)
{
    run_ops(program_ops(thread));
    x_forget(2);
}

static uint64_t summary(void)
{
    return ((uint64_t)generation << 4 | dropped[0] << 2 | dropped[1]) << 1 | is_free;
}

static const char *value_name(uint64_t value)
{
    static const char *const refs[] = {"none", "run", "user", "both"};
    return value < FI_REF_GENERATION ? NULL : refs[value & FI_REF_ALL];
}

static const program programs[] = {
    {0, 0, "D", {"R"}},    {0, 0, "DN", {"R"}},   {0, 0, "D", {"RNDR"}},
    {0, 0, "HD", {"NHD"}}, {0, 0, "DNHD", {"R"}}, {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("drops a reference relaxed", "ref.drop", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("frees the record after a relaxed load", "ref.last", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("frees the record of a run after a relaxed load", "ref.run_last", ORDER_RELAXED, RACE,
           RACE, RACE),
    {.what = NULL},
};

const kind ref_kind = {
    .name = "ref",
    .owner = "DRHN",
    .thief = "DRHN",
    .programs = programs,
    .mutants = mutants,
    .threads = OWNER_AND("worker", "user"),
    .data = {"the record"},
    .races = true,
    .setup = setup,
    .run = run,
    .at_end = check_end,
    .summary = summary,
    .value_name = value_name,
};
