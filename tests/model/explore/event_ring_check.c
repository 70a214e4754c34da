/* A copied event that is reported as valid is the event that was appended. */
#include "explore/program.h"

#define FI_EVENT_WORDS 2
#include "base/event_ring.h"

#include <string.h>

enum { MAX_CAPACITY = 4 };

static const program *now;
static fi_event_ring_slot slots[MAX_CAPACITY];
static fi_event_ring events;
static uint64_t appended;

static void setup(void)
{
    static const char *const names[MAX_CAPACITY][FI_EVENT_WORDS] = {
        {"slot 0 a", "slot 0 b"},
        {"slot 1 a", "slot 1 b"},
        {"slot 2 a", "slot 2 b"},
        {"slot 3 a", "slot 3 b"},
    };
    appended = 0;
    events.capacity = now->capacity;
    events.slots = slots;
    x_init(&events.count, 0, "count");
    for (uint32_t i = 0; i < now->capacity; i++)
        for (int k = 0; k < FI_EVENT_WORDS; k++)
            x_init(&slots[i].word[k], 0, names[i][k]);
}

/* All words of event i are i + 1. */
static void append_one(void)
{
    fi_event e;
    x_say("append event %d", (int)appended);
    appended++;
    for (int k = 0; k < FI_EVENT_WORDS; k++)
        e.word[k] = appended;
    fi_event_ring_append(&events, &e);
}

static void check_one(uint64_t i, const fi_event *e)
{
    for (int k = 0; k < FI_EVENT_WORDS; k++)
        if (e->word[k] != i + 1)
            x_fail(WRONG, "word %d of event %d is of event %d", k, (int)i, (int)e->word[k] - 1);
}

static void copy(void)
{
    fi_event copies[MAX_CAPACITY];
    uint64_t n, from, first;
    x_say("copy");
    n = fi_event_ring_count(&events);
    from = n > events.capacity ? n - events.capacity : 0;
    for (uint64_t i = from; i < n; i++)
        fi_event_ring_read(&events, i, &copies[i - from]);
    first = fi_event_ring_first_valid(&events);
    for (uint64_t i = from; i < n; i++)
        if (i >= first)
            check_one(i, &copies[i - from]);
}

static void run(int thread)
{
    const char *ops = thread == 0 ? now->owner : now->thieves[thread - 1];
    for (; *ops; ops++) {
        x_forget(strlen(ops));
        if (*ops == 'P')
            append_one();
        else
            copy();
    }
    x_forget(0);
}

static uint64_t summary(void)
{
    return appended;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"owner", "reader 1", "reader 2", "reader 3"};
    return names[thread];
}

static const char *value_name(uint64_t value)
{
    (void)value;
    return NULL;
}

void event_ring_check(check *c, const program *p)
{
    now = p;
    *c = (check){.threads = program_threads(p),
                 .exchangeable = true,
                 .setup = setup,
                 .run = run,
                 .summary = summary,
                 .thread_name = thread_name,
                 .value_name = value_name};
}
