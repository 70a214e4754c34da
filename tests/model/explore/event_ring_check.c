/* A copied event that is reported as valid is the event that was appended.
 *
 * The ring has `capacity` events.  Owner: P append an event.  Thief: C copy all events. */
#include "explore/kind.h"

#define FI_EVENT_WORDS 2
#include "base/event_ring.h"

enum { MAX_CAPACITY = 4 };

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
    events.capacity = program_now->capacity;
    events.slots = slots;
    x_init(&events.count, 0, "count");
    for (uint32_t i = 0; i < program_now->capacity; i++)
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

static void operate(const operation *op)
{
    if (op->letter == 'P')
        append_one();
    else
        copy();
}

static uint64_t summary(void)
{
    return appended;
}

static const program programs[] = {
    {2, 0, "P", {"C"}},         {2, 0, "PPP", {"C"}},   {2, 0, "PPP", {"CC"}},
    {2, 0, "PPPP", {"C", "C"}}, {4, 0, "PPPPP", {"C"}}, {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("appends relaxed", "event_ring.append", ORDER_RELAXED, WRONG, WRONG, OK),
    WEAKER("reads the count relaxed", "event_ring.count", ORDER_RELAXED, WRONG, WRONG, OK),
    WEAKER("writes words relaxed", "event_ring.write", ORDER_RELAXED, WRONG, WRONG, OK),
    WEAKER("reads words relaxed", "event_ring.read", ORDER_RELAXED, WRONG, WRONG, OK),
    {.what = NULL},
};

const kind event_ring_kind = {
    .name = "event_ring",
    .owner = "P",
    .thief = "C",
    .programs = programs,
    .mutants = mutants,
    .threads = OWNER_AND("owner", "reader"),
    .exchangeable = true,
    .setup = setup,
    .operate = operate,
    .summary = summary,
};
