/* One thread holds a lock at a time and sees what the last holder did, on the fast and on the slow path. */
#include "explore/program.h"

#include "base/biased_lock.h"

#include <string.h>

enum { LOCKS = 2 };

static const program *now;
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
    const uint32_t bias[] = {now->capacity, now->batch};
    for (int i = 0; i < LOCKS; i++) {
        lock[i] = (fi_biased_lock){.last = (uint16_t)bias[i]};
        x_init(&lock[i].word, 0, words[i]);
        x_init(&lock[i].bias, bias[i], biases[i]);
    }
    for (int i = 0; i <= program_threads(now); i++)
        x_init(&fi_lock_owners[i].holds, 0, holds[i]);
}

/* The number of spins does not matter once the lock is held.  Nor do earlier revocations, which would
 * only make programs longer. */
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

static void run(int thread)
{
    const char *ops = thread == 0 ? now->owner : now->thieves[thread - 1];
    for (; *ops; ops++) {
        uint64_t position = 4 * strlen(ops);
        x_forget(position);
        if (*ops == 'L')
            hold_once(0, lock_id(thread), position);
        else if (*ops == 'M')
            hold_once(1, lock_id(thread), position);
        else if (*ops == 'N')
            hold_once(0, FI_LOCK_ID_NONE, position);
        else
            hold_both(lock_id(thread), position);
    }
    x_forget(0);
}

static uint64_t summary(void)
{
    uint64_t h = 0;
    for (int i = 0; i < LOCKS; i++)
        h = h << 32 | (uint64_t)lock[i].last << 24 | (uint64_t)lock[i].streak << 8 |
            (uint64_t)lock[i].revocations << 1 | lock[i].slow;
    return h;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"thread 1", "thread 2", "thread 3", "thread 4"};
    return names[thread];
}

static const char *data_name(int datum)
{
    (void)datum;
    return "what the lock protects";
}

static const char *value_name(uint64_t value)
{
    for (int i = 0; i < LOCKS; i++)
        if (value == X_BITS(&lock[i]))
            return i ? "lock 1" : "lock 0";
    return NULL;
}

void biased_lock_check(check *c, const program *p)
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
