/* One holds a latch at a time, and sees what the last holder did, whether it came by the word or as the favourite. */
#include "explore/program.h"

#include "base/biased_lock.h"

#include <string.h>

enum { LATCHES = 2 };

static const program *now;
static fi_biased_lock latch[LATCHES];

static uint32_t party(int thread)
{
    return (uint32_t)thread + 1;
}

static void setup(void)
{
    static const char *const words[] = {"word 0", "word 1"};
    static const char *const favourites[] = {"liked 0", "liked 1"};
    static const char *const holds[] = {"held", "1 holds", "2 holds", "3 holds", "4 holds"};
    const uint32_t favourite[] = {now->capacity, now->batch};
    for (int i = 0; i < LATCHES; i++) {
        latch[i] = (fi_biased_lock){.last = (uint16_t)favourite[i]};
        x_init(&latch[i].word, 0, words[i]);
        x_init(&latch[i].favourite, favourite[i], favourites[i]);
    }
    for (int i = 0; i <= program_threads(now); i++)
        x_init(&fi_lock_owners[i].holds, 0, holds[i]);
}

/* How often it looked does not matter, once it has the latch; nor how often the latch was lost before, which would only make
 * programs longer. */
static void hold(int which, uint32_t who, uint64_t position)
{
    fi_biased_lock *l = &latch[which];
    x_say("take latch %d%s", which, who ? "" : " by its word");
    if (who)
        fi_biased_lock_lock(l, who);
    else
        fi_biased_lock_lock_slow(l, who);
    x_forget(position);
    x_say("has latch %d%s", which, l->by_word ? "" : " as the favourite");
    l->losses = 0;
    x_data_write(which);
}

static void let_go(int which, uint32_t who)
{
    x_data_read(which);
    x_say("let latch %d go", which);
    fi_biased_lock_unlock(&latch[which], who);
}

static void hold_once(int which, uint32_t who, uint64_t position)
{
    hold(which, who, position + 1);
    let_go(which, who);
}

static void hold_both(uint32_t who, uint64_t position)
{
    hold(0, who, position + 1);
    hold(1, FI_LOCK_ID_NONE, position + 2);
    let_go(1, FI_LOCK_ID_NONE);
    let_go(0, who);
}

static void run(int thread)
{
    const char *ops = thread == 0 ? now->owner : now->thieves[thread - 1];
    for (; *ops; ops++) {
        uint64_t position = 4 * strlen(ops);
        x_forget(position);
        if (*ops == 'L')
            hold_once(0, party(thread), position);
        else if (*ops == 'M')
            hold_once(1, party(thread), position);
        else if (*ops == 'N')
            hold_once(0, FI_LOCK_ID_NONE, position);
        else
            hold_both(party(thread), position);
    }
    x_forget(0);
}

static uint64_t summary(void)
{
    uint64_t h = 0;
    for (int i = 0; i < LATCHES; i++)
        h = h << 32 | (uint64_t)latch[i].last << 24 | (uint64_t)latch[i].streak << 8 |
            (uint64_t)latch[i].losses << 1 | latch[i].by_word;
    return h;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"party 1", "party 2", "party 3", "party 4"};
    return names[thread];
}

static const char *data_name(int datum)
{
    (void)datum;
    return "what the latch guards";
}

static const char *value_name(uint64_t value)
{
    for (int i = 0; i < LATCHES; i++)
        if (value == X_BITS(&latch[i]))
            return i ? "latch 1" : "latch 0";
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
