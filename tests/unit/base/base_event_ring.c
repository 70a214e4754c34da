/* Event rings and interned names on real threads.  The model checks cover the memory orders. */
#include "check.h"

#include "base/event_ring.h"
#include "base/intern.h"

#include <pthread.h>
#include <stdatomic.h>

enum { CAPACITY = 16, APPENDS = 200000, THREADS = 4 };

static fi_event_ring_slot slots[CAPACITY];
static fi_event_ring events;

static void append(uint64_t i)
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

/* Copy the ring and check the valid events.  Returns their id. */
static uint64_t check_copy(void)
{
    fi_event copy[CAPACITY];
    uint64_t n = fi_event_ring_count(&events), from = n > CAPACITY ? n - CAPACITY : 0, first,
             n_valid = 0;

    for (uint64_t i = from; i < n; i++)
        fi_event_ring_read(&events, i, &copy[i - from]);
    first = fi_event_ring_first_valid(&events);
    for (uint64_t i = from > first ? from : first; i < n; i++, n_valid++)
        CHECK(is_event(&copy[i - from], i));
    return n_valid;
}

static void reset_ring(void)
{
    fi_atomic_init(&events.count, 0);
    events.capacity = CAPACITY;
    events.slots = slots;
}

static void the_last_events_are_kept(void **state)
{
    (void)state;
    reset_ring();
    CHECK_INT(check_copy(), 0);
    for (uint64_t i = 0; i < UINT64_C(3) * CAPACITY; i++) {
        append(i);
        CHECK_INT(check_copy(), i + 1 < CAPACITY ? i + 1 : CAPACITY - 1);
    }
}

static void *append_all(void *arg)
{
    for (uint64_t i = 0; i < APPENDS; i++)
        append(i);
    return arg;
}

static void a_copy_during_appends_is_valid(void **state)
{
    pthread_t owner;

    (void)state;
    reset_ring();
    CHECK_INT(pthread_create(&owner, NULL, append_all, NULL), 0);
    while (fi_event_ring_count(&events) < APPENDS)
        check_copy();
    CHECK_INT(pthread_join(owner, NULL), 0);
    CHECK_INT(check_copy(), CAPACITY - 1);
}

static fi_intern names;
static atomic_int wrong;

static void *name_all(void *arg)
{
    fi_intern_cache cache = {{0}};
    char name[32];

    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 500; i++) {
            uint32_t id;
            snprintf(name, sizeof name, "name %d", i);
            id = fi_intern_id(&names, &cache, name);
            if (id == 0 || strcmp(fi_intern_text(&names, id), name) != 0)
                atomic_fetch_add(&wrong, 1);
        }
    return arg;
}

static void a_name_has_one_id(void **state)
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

static void long_names_are_truncated_and_a_full_table_refuses(void **state)
{
    fi_intern_cache cache = {{0}};
    char name[100];
    uint32_t id;

    (void)state;
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    id = fi_intern_id(&names, &cache, name);
    CHECK_INT(strlen(fi_intern_text(&names, id)), FI_INTERN_SIZE - 1);
    CHECK_INT(fi_intern_id(&names, &cache, name), id);
    for (unsigned i = 0; i < 2 * FI_INTERN_MAX; i++) {
        snprintf(name, sizeof name, "one more: %u", i);
        id = fi_intern_id(&names, &cache, name);
    }
    CHECK_INT(id, 0);
    CHECK(fi_intern_id(&names, &cache, "name 7") > 0);
}

CHECK_MAIN(the_last_events_are_kept, a_copy_during_appends_is_valid, a_name_has_one_id,
           long_names_are_truncated_and_a_full_table_refuses)
