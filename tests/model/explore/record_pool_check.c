/* A pushed magazine is popped once, by a thread that sees the records in it. */
#include "explore/program.h"

#include "base/mem.h"
#include "base/record_pool.h"
#include "explore/mem.h"

#include <string.h>

enum { MAX_MAGAZINES = 4 };

/* In the arena, because the list of magazines is part of the state. */
typedef struct shared {
    fi_record_depot depot;
    fi_record magazine[MAX_MAGAZINES];
} shared;

static const program *now;
static shared *at;
static unsigned pushed; /* a bit for each magazine in the depot */

/* For record_pool.c, which is compiled with these. */
void record_lock(fi_lock *l);
void record_unlock(fi_lock *l);

void record_lock(fi_lock *l)
{
    if (!x_fault("pop_lock"))
        x_lock(l);
}

void record_unlock(fi_lock *l)
{
    if (!x_fault("pop_lock"))
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

static int count_pushes(int threads)
{
    int n = 0;
    for (int i = 0; i < threads; i++)
        for (const char *op = ops_of(i); *op; op++)
            n += *op == 'P';
    return n;
}

/* `capacity` magazines are in the depot from the start. */
static void setup(void)
{
    at = FI_NEW(shared);
    pushed = 0;
    fi_record_depot_init(&at->depot, sizeof(fi_record));
    if (now->capacity + (uint32_t)count_pushes(program_threads(now)) > MAX_MAGAZINES)
        x_fail(LIMIT, "at most %d magazines", MAX_MAGAZINES);
    for (uint32_t i = 0; i < now->capacity; i++) {
        pushed |= 1u << i;
        at->magazine[i].next_magazine = i > 0 ? &at->magazine[i - 1] : NULL;
        fi_atomic_init(&at->depot.magazines, &at->magazine[i]);
    }
}

static void push(fi_record *magazine)
{
    int i = (int)(magazine - at->magazine);
    x_say("push %c", 'A' + i);
    x_data_write(i);
    pushed |= 1u << i;
    fi_record_depot_push(&at->depot, magazine);
}

static fi_record *pop(void)
{
    x_say("pop");
    fi_record *magazine = fi_record_depot_pop(&at->depot);
    if (!magazine)
        return NULL;
    int i = (int)(magazine - at->magazine);
    x_say("obtains %c", 'A' + i);
    if (!(pushed & 1u << i))
        x_fail(TWICE, "magazine %c is popped twice", 'A' + i);
    pushed &= ~(1u << i);
    x_data_read(i);
    return magazine;
}

/* B pushes the oldest popped magazine again. */
static void run_ops(int thread)
{
    fi_record *mine[MAX_MAGAZINES] = {NULL};
    int first = 0, end = 0;
    uint32_t fresh = now->capacity + (uint32_t)count_pushes(thread);
    for (const char *op = ops_of(thread); *op; op++) {
        if (*op == 'P') {
            push(&at->magazine[fresh++]);
        } else if (*op == 'T') {
            mine[end] = pop();
            end += mine[end] != NULL;
        } else if (first < end) {
            push(mine[first++]);
        }
    }
}

static void drain(void)
{
    x_join();
    for (uint64_t i = 0; pushed && i < MAX_MAGAZINES; i++)
        if (!pop())
            x_fail(LOST, "a magazine is lost");
    if (pop())
        x_fail(TWICE, "a magazine was popped that was not pushed");
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
    return pushed;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"worker 0", "worker 1", "worker 2", "worker 3"};
    return names[thread];
}

static const char *data_name(int datum)
{
    (void)datum;
    return "the records in the magazine";
}

static const char *value_name(uint64_t value)
{
    static const char *const letters[] = {"A", "B", "C", "D"};
    for (int i = 0; i < MAX_MAGAZINES; i++)
        if (value == X_BITS(&at->magazine[i]))
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
