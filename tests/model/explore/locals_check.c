/* Who finds that there is a place for locals finds its destroyer too; and no two get the same place. */
#include "explore/program.h"

/* The lock that is nothing but a lock. */
#define fi_lock_lock   x_lock
#define fi_lock_unlock x_unlock
#include "sched/places.h"

#include <string.h>

enum { MAX_PLACES = 4 };

static const program *now;
static fi_places places;
static unsigned given;

static void setup(void)
{
    static const char *const names[] = {"gone 0", "gone 1", "gone 2", "gone 3"};
    given = 0;
    x_init(&places.lock.word, 0, "lock");
    x_init(&places.n, 0, "n");
    for (int i = 0; i < MAX_PLACES; i++)
        x_init(&places.destroyer[i], 0, names[i]);
}

static void destroy(void *value)
{
    (void)value;
}

static void make(void)
{
    x_say("make a place");
    int place = fi_places_add(&places, destroy);
    if (given & 1u << place)
        x_fail(TWICE, "place %d is given twice", place);
    given |= 1u << place;
}

static void destroy_all(void)
{
    x_say("look at all places");
    int n = fi_places_n(&places);
    for (int i = 0; i < n; i++)
        if (!fi_places_destroyer(&places, i))
            x_fail(LOST, "a place has no destroyer");
}

static void run(int thread)
{
    const char *ops = thread == 0 ? now->owner : now->thieves[thread - 1];
    for (; *ops; ops++) {
        x_forget(strlen(ops));
        if (*ops == 'N')
            make();
        else
            destroy_all();
    }
    x_forget(0);
}

static uint64_t summary(void)
{
    return given;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"thread 0", "thread 1", "thread 2", "thread 3"};
    return names[thread];
}

static const char *value_name(uint64_t value)
{
    return value == X_BITS(destroy) ? "destroy" : NULL;
}

void locals_check(check *c, const program *p)
{
    now = p;
    *c = (check){.threads = program_threads(p),
                 .setup = setup,
                 .run = run,
                 .summary = summary,
                 .thread_name = thread_name,
                 .value_name = value_name};
}
