/* Logs and names on real threads; a log's memory orders are the model's business. */
#include "check.h"

#include "base/event_ring.h"
#include "base/intern.h"

#include <pthread.h>
#include <stdatomic.h>

enum { CAPACITY = 16, PUTS = 200000, THREADS = 4 };

static fi_event_ring_slot slots[CAPACITY];
static fi_event_ring events;

static void put(uint64_t i)
{
    fi_event e;

    for (uint64_t k = 0; k < FI_EVENT_WORDS; k++)
        e.word[k] = i * FI_EVENT_WORDS + k;
    fi_event_ring_append(&events, &e);
}

static bool is_event(const fi_event *e, uint64_t i)
{
    for (uint64_t k = 0; k < FI_EVENT_WORDS; k++)
        if (e->word[k] != i * FI_EVENT_WORDS + k)
            return false;
    return true;
}

/* How many were whole; all of them are what was put. */
static uint64_t look(void)
{
    fi_event copy[CAPACITY];
    uint64_t n = fi_event_ring_count(&events), from = n > CAPACITY ? n - CAPACITY : 0, first,
             whole = 0;

    for (uint64_t i = from; i < n; i++)
        fi_event_ring_read(&events, i, &copy[i - from]);
    first = fi_event_ring_first_valid(&events);
    for (uint64_t i = from > first ? from : first; i < n; i++, whole++)
        CHECK(is_event(&copy[i - from], i));
    return whole;
}

static void empty_log(void)
{
    fi_atomic_init(&events.n, 0);
    events.capacity = CAPACITY;
    events.slots = slots;
}

static void a_log_keeps_the_last(void **state)
{
    (void)state;
    empty_log();
    CHECK_INT(look(), 0);
    for (uint64_t i = 0; i < UINT64_C(3) * CAPACITY; i++) {
        put(i);
        CHECK_INT(look(), i + 1 < CAPACITY ? i + 1 : CAPACITY - 1);
    }
}

static void *put_all(void *arg)
{
    for (uint64_t i = 0; i < PUTS; i++)
        put(i);
    return arg;
}

static void a_log_can_be_copied_meanwhile(void **state)
{
    pthread_t owner;

    (void)state;
    empty_log();
    CHECK_INT(pthread_create(&owner, NULL, put_all, NULL), 0);
    while (fi_event_ring_count(&events) < PUTS)
        look();
    CHECK_INT(pthread_join(owner, NULL), 0);
    CHECK_INT(look(), CAPACITY - 1);
}

static fi_intern names;
static atomic_int wrong;

static void *name_all(void *arg)
{
    fi_intern_cache known = {{0}};
    char name[32];

    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 500; i++) {
            uint32_t number;
            snprintf(name, sizeof name, "name %d", i);
            number = fi_intern_id(&names, &known, name);
            if (number == 0 || strcmp(fi_intern_text(&names, number), name) != 0)
                atomic_fetch_add(&wrong, 1);
        }
    return arg;
}

static void a_name_has_one_number(void **state)
{
    pthread_t thread[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, name_all, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(thread[i], NULL), 0);
    CHECK_INT(wrong, 0);
    CHECK_INT(names.n, 500);
}

static void long_names_are_cut_and_many_are_refused(void **state)
{
    fi_intern_cache known = {{0}};
    char name[100];
    uint32_t number;

    (void)state;
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    number = fi_intern_id(&names, &known, name);
    CHECK_INT(strlen(fi_intern_text(&names, number)), FI_INTERN_SIZE - 1);
    CHECK_INT(fi_intern_id(&names, &known, name), number);
    for (unsigned i = 0; i < 2 * FI_INTERN_MAX; i++) {
        snprintf(name, sizeof name, "one more: %u", i);
        number = fi_intern_id(&names, &known, name);
    }
    CHECK_INT(number, 0);
    CHECK(fi_intern_id(&names, &known, "name 7") > 0);
}

CHECK_MAIN(a_log_keeps_the_last, a_log_can_be_copied_meanwhile, a_name_has_one_number,
           long_names_are_cut_and_many_are_refused)
