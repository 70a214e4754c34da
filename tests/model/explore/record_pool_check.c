/* A bundle of records that was put is taken once, by somebody who sees what is in it. */
#include "explore/program.h"

#include "base/mem.h"
#include "base/record_pool.h"
#include "explore/mem.h"

#include <string.h>

enum { MAX_BUNDLES = 4 };

/* In the arena, as the list of bundles is part of the state. */
typedef struct place {
    fi_record_depot share;
    fi_record bundle[MAX_BUNDLES];
} place;

static const program *now;
static place *at;
static unsigned put; /* a bit each */

/* For record.c, which is compiled with these. */
void record_lock(fi_lock *l);
void record_unlock(fi_lock *l);

void record_lock(fi_lock *l)
{
    if (!x_fault("takers"))
        x_lock(l);
}

void record_unlock(fi_lock *l)
{
    if (!x_fault("takers"))
        x_unlock(l);
}

void *fi_mem_alloc(size_t size, size_t align)
{
    (void)align;
    return x_alloc(size);
}

void fi_mem_free(void *p, size_t size, size_t align)
{
    (void)align;
    x_free(p, size);
}

static const char *ops_of(int thread)
{
    return thread == 0 ? now->owner : now->thieves[thread - 1];
}

static int count_puts(int threads)
{
    int n = 0;
    for (int i = 0; i < threads; i++)
        for (const char *op = ops_of(i); *op; op++)
            n += *op == 'P';
    return n;
}

/* `capacity` of them are there from the start. */
static void setup(void)
{
    at = FI_NEW(place);
    put = 0;
    fi_record_depot_init(&at->share, sizeof(fi_record));
    if (now->capacity + (uint32_t)count_puts(program_threads(now)) > MAX_BUNDLES)
        x_fail(LIMIT, "at most %d bundles", MAX_BUNDLES);
    for (uint32_t i = 0; i < now->capacity; i++) {
        put |= 1u << i;
        at->bundle[i].next_magazine = i > 0 ? &at->bundle[i - 1] : NULL;
        fi_atomic_init(&at->share.bundles, &at->bundle[i]);
    }
}

static void give(fi_record *bundle)
{
    int i = (int)(bundle - at->bundle);
    x_say("put %c", 'A' + i);
    x_data_write(i);
    put |= 1u << i;
    fi_record_depot_push(&at->share, bundle);
}

static fi_record *take(void)
{
    x_say("take");
    fi_record *bundle = fi_record_depot_pop(&at->share);
    if (!bundle)
        return NULL;
    int i = (int)(bundle - at->bundle);
    x_say("obtains %c", 'A' + i);
    if (!(put & 1u << i))
        x_fail(TWICE, "bundle %c is taken twice", 'A' + i);
    put &= ~(1u << i);
    x_data_read(i);
    return bundle;
}

/* The oldest that it has taken goes back first. */
static void run_ops(int thread)
{
    fi_record *mine[MAX_BUNDLES] = {NULL};
    int first = 0, end = 0;
    uint32_t fresh = now->capacity + (uint32_t)count_puts(thread);
    for (const char *op = ops_of(thread); *op; op++) {
        if (*op == 'P') {
            give(&at->bundle[fresh++]);
        } else if (*op == 'T') {
            mine[end] = take();
            end += mine[end] != NULL;
        } else if (first < end) {
            give(mine[first++]);
        }
    }
}

static void drain(void)
{
    x_join();
    for (uint64_t i = 0; put && i < MAX_BUNDLES; i++)
        if (!take())
            x_fail(LOST, "a bundle is lost");
    if (take())
        x_fail(TWICE, "a bundle is there that nobody put");
}

static void run(int thread)
{
    run_ops(thread);
    x_forget(thread == 0 ? 1 : 2);
    if (thread == 0)
        drain();
}

static uint64_t summary(void)
{
    return put;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"worker 0", "worker 1", "worker 2", "worker 3"};
    return names[thread];
}

static const char *data_name(int datum)
{
    (void)datum;
    return "the records in the bundle";
}

static const char *value_name(uint64_t value)
{
    static const char *const letters[] = {"A", "B", "C", "D"};
    for (int i = 0; i < MAX_BUNDLES; i++)
        if (value == X_BITS(&at->bundle[i]))
            return letters[i];
    return value ? NULL : "none";
}

void record_pool_check(check *c, const program *p)
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
