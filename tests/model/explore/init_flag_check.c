/* Who finds a word that something is there finds that as it was made; places for locals, which are published by their number,
 * have their destroyers, and no two get the same. */
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
static FI_ATOMIC(uint32_t) word; /* whose thing is there, from 1; 0: none yet */
static fi_lock lock;
static uint32_t agreed;

static void setup(void)
{
    static const char *const names[] = {"gone 0", "gone 1", "gone 2", "gone 3"};
    given = 0;
    agreed = 0;
    x_init(&places.lock.word, 0, "lock");
    x_init(&places.n, 0, "n");
    x_init(&lock.word, 0, "other lock");
    x_init(&word, 0, "word");
    for (int i = 0; i < MAX_PLACES; i++)
        x_init(&places.destroyer[i], 0, names[i]);
}

static void destroy(void *value)
{
    (void)value;
}

static void make_place(void)
{
    x_say("make a place");
    int place = fi_places_add(&places, destroy);
    if (place < 0)
        x_fail(WRONG, "there is no place");
    else if (given & 1u << place)
        x_fail(TWICE, "place %d is given twice", place);
    else
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

static void look(void)
{
    x_say("look");
    uint32_t whose = fi_init_get(&word);
    if (whose)
        x_data_read((int)whose);
}

static uint32_t make_thing(int thread)
{
    x_say("make a thing");
    x_data_write(thread + 1);
    return (uint32_t)thread + 1;
}

/* As in sched/poller.c: one is chosen under a lock, and whoever comes publishes it. */
static void publish_chosen(int thread)
{
    uint32_t mine = make_thing(thread);
    x_lock(&lock);
    if (!agreed)
        agreed = mine;
    mine = agreed;
    x_unlock(&lock);
    fi_init_set(&word, mine);
}

/* As in io/fd_table.c: the first to publish wins, and all use that. */
static void publish_first(int thread)
{
    uint32_t none = 0;
    fi_init_set_first(&word, &none, make_thing(thread));
    look();
}

static void run(int thread)
{
    const char *ops = thread == 0 ? now->owner : now->thieves[thread - 1];
    for (; *ops; ops++) {
        x_forget(strlen(ops));
        if (*ops == 'N')
            make_place();
        else if (*ops == 'D')
            destroy_all();
        else if (*ops == 'S')
            publish_chosen(thread);
        else if (*ops == 'F')
            publish_first(thread);
        else
            look();
    }
    x_forget(0);
}

static uint64_t summary(void)
{
    return (uint64_t)agreed << 32 | given;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"thread 0", "thread 1", "thread 2", "thread 3"};
    return names[thread];
}

static const char *data_name(int datum)
{
    (void)datum;
    return "what is published";
}

static const char *value_name(uint64_t value)
{
    return value == X_BITS(destroy) ? "destroy" : NULL;
}

void init_flag_check(check *c, const program *p)
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
