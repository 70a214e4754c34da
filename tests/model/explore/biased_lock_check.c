/* One thread holds a lock at a time and sees what the last holder did, on the fast and on the slow
 * path.
 *
 * Two locks; `capacity` (its last digit) and `batch` are the lock ids of the initial biases.  With
 * a capacity above 10, a waiter finds every owner busy and asks it for the bias; above 20, it looks
 * at the owner once.  All: L lock and unlock the first, M the second, N the first on the slow path,
 * B the first and, on the slow path, the second.  One thread holds a lock at a time. */
#include "explore/kind.h"

#include "base/biased_lock.h"

enum { LOCKS = 2 };

int x_lock_looks = -1;

static fi_biased_lock lock[LOCKS];

static uint32_t lock_id(int thread)
{
    return (uint32_t)thread + 1;
}

static void setup(void)
{
    static const char *const words[] = {"word 0", "word 1"};
    static const char *const biases[] = {"bias 0", "bias 1"};
    static const char *const holds[] = {"holds", "1 holds", "2 holds", "3 holds", "4 holds"};
    const uint32_t bias[] = {program_now->capacity % 10, program_now->batch};
    x_lock_looks = (int)program_now->capacity / 10 - 1;
    for (int i = 0; i < LOCKS; i++) {
        lock[i] = (fi_biased_lock){.last = (uint16_t)bias[i]};
        x_init(&lock[i].word, 0, words[i]);
        x_init(&lock[i].bias, bias[i], biases[i]);
    }
    for (int i = 0; i <= program_threads(); i++)
        x_init(&fi_lock_owners[i].holds, 0, holds[i]);
}

/* The number of spins does not matter once the lock is held.  Nor do earlier revocations, which
 * would only make programs longer. */
static void hold(int which, uint32_t id, uint64_t position)
{
    fi_biased_lock *l = &lock[which];
    x_say("lock %d%s", which, id ? "" : " on the slow path");
    if (id)
        fi_biased_lock_lock(l, id);
    else
        fi_biased_lock_lock_slow(l, id);
    x_forget(position);
    x_say("has lock %d%s", which, l->slow ? "" : " by its bias");
    l->revocations = 0;
    x_data_write(which);
}

static void unlock(int which, uint32_t id)
{
    x_data_read(which);
    x_say("unlock %d", which);
    fi_biased_lock_unlock(&lock[which], id);
}

static void hold_once(int which, uint32_t id, uint64_t position)
{
    hold(which, id, position + 1);
    unlock(which, id);
}

static void hold_both(uint32_t id, uint64_t position)
{
    hold(0, id, position + 1);
    hold(1, FI_LOCK_ID_NONE, position + 2);
    unlock(1, FI_LOCK_ID_NONE);
    unlock(0, id);
}

static void operate(const operation *op)
{
    if (op->letter == 'L')
        hold_once(0, lock_id(op->thread), op->position);
    else if (op->letter == 'M')
        hold_once(1, lock_id(op->thread), op->position);
    else if (op->letter == 'N')
        hold_once(0, FI_LOCK_ID_NONE, op->position);
    else
        hold_both(lock_id(op->thread), op->position);
}

static uint64_t summary(void)
{
    uint64_t h = 0;
    for (int i = 0; i < LOCKS; i++)
        h = h << 32 | (uint64_t)lock[i].last << 24 | (uint64_t)lock[i].streak << 8 |
            (uint64_t)lock[i].revocations << 1 | lock[i].slow;
    return h;
}

static const char *value_name(uint64_t value)
{
    for (int i = 0; i < LOCKS; i++)
        if (value == X_BITS(&lock[i]))
            return i ? "lock 1" : "lock 0";
    return NULL;
}

static const program programs[] = {
    {1, 0, "L", {"L"}},    {1, 0, "LL", {"L"}},     {1, 0, "LN", {"L"}},     {0, 0, "LLL", {"L"}},
    {1, 0, "L", {"LLL"}},  {1, 1, "LM", {"L"}},     {1, 2, "B", {"M"}},      {1, 1, "B", {"ML"}},
    {1, 1, "LML", {"LM"}}, {1, 0, "L", {"L", "L"}}, {1, 0, "L", {"N", "L"}}, {11, 0, "LL", {"L"}},
    {11, 0, "LL", {"LL"}}, {11, 0, "L", {"LLL"}},   {11, 1, "LM", {"LL"}},   {11, 0, "LN", {"L"}},
    {11, 2, "B", {"M"}},   {21, 0, "LL", {"L"}},    {21, 1, "LM", {"L"}},    {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("no fence on the fast path", "biased_lock.light", ORDER_NONE, RACE, RACE, RACE),
    WEAKER("no fence in the revocation", "biased_lock.heavy", ORDER_NONE, RACE, RACE, RACE),
    WEAKER("a fence in the revocation that is not heavy", "biased_lock.heavy", ORDER_ACQ_REL, RACE,
           RACE, RACE),
    WEAKER("locks on the slow path relaxed", "biased_lock.slow", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("unlocks on the slow path relaxed", "biased_lock.unlock", ORDER_RELAXED, RACE, RACE,
           RACE),
    WEAKER("unlocks on the fast path relaxed", "biased_lock.unlock_fast", ORDER_RELAXED, RACE, RACE,
           RACE),
    WEAKER("locks another lock on the fast path relaxed", "biased_lock.hold", ORDER_RELAXED, RACE,
           RACE, RACE),
    WEAKER("the revocation reads relaxed that the owner has unlocked", "biased_lock.revoked",
           ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("an owner that is asked releases its bias relaxed", "biased_lock.release", ORDER_RELAXED,
           RACE, RACE, RACE),
    WEAKER("reads relaxed that the owner has released its bias", "biased_lock.released",
           ORDER_RELAXED, RACE, RACE, RACE),
    FAULT("one `holds` word for all owners", "biased_lock.owners", RACE, RACE, RACE),
    FAULT("an owner that is asked overwrites any bias with its answer", "biased_lock.answer", RACE,
          RACE, RACE),
    {.what = NULL},
};

const kind biased_lock_kind = {
    .name = "biased_lock",
    .owner = "LMNB",
    .thief = "LMNB",
    .programs = programs,
    .mutants = mutants,
    .threads = {"thread 1", "thread 2", "thread 3", "thread 4"},
    .data = {"what the lock protects"},
    .races = true,
    .setup = setup,
    .operate = operate,
    .summary = summary,
    .value_name = value_name,
};
