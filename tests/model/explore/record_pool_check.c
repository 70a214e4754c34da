/* A pushed magazine is popped once, by a thread that sees the records in it.
 *
 * With `capacity` magazines in the depot.  All: P push a new one, T pop one, B push the oldest
 * popped one again.  Each pushed magazine is popped once, by a thread that sees its records. */
#include "explore/kind.h"

#include "base/mem.h"
#include "base/record_pool.h"
#include "explore/mem.h"

enum { MAX_MAGAZINES = 4 };

/* In the arena, because the list of magazines is part of the state. */
typedef struct shared {
    fi_record_depot depot;
    fi_record magazine[MAX_MAGAZINES];
} shared;

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

static int count_pushes(int threads)
{
    int n = 0;
    for (int i = 0; i < threads; i++)
        for (const char *op = program_ops(i); *op; op++)
            n += *op == 'P';
    return n;
}

/* `capacity` magazines are in the depot from the start. */
static void setup(void)
{
    at = FI_NEW(shared);
    pushed = 0;
    fi_record_depot_init(&at->depot, sizeof(fi_record));
    if (program_now->capacity + (uint32_t)count_pushes(program_threads()) > MAX_MAGAZINES)
        x_fail(LIMIT, "at most %d magazines", MAX_MAGAZINES);
    for (uint32_t i = 0; i < program_now->capacity; i++) {
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
    uint32_t fresh = program_now->capacity + (uint32_t)count_pushes(thread);
    for (const char *op = program_ops(thread); *op; op++) {
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
    for (uint64_t i = 0; pushed && i < MAX_MAGAZINES; i++)
        if (!pop())
            x_fail(LOST, "a magazine is lost");
    if (pop())
        x_fail(TWICE, "a magazine was popped that was not pushed");
}

static void run(int thread)
{
    run_ops(thread);
    x_forget(2);
}

static uint64_t summary(void)
{
    return pushed;
}

static const char *value_name(uint64_t value)
{
    static const char *const letters[] = {"A", "B", "C", "D"};
    for (int i = 0; i < MAX_MAGAZINES; i++)
        if (value == X_BITS(&at->magazine[i]))
            return letters[i];
    return value ? NULL : "none";
}

static const program programs[] = {
    {0, 0, "P", {"T"}},        {0, 0, "P", {"PT"}},       {2, 0, "T", {"TTB"}},
    {1, 0, "PT", {"TB", "T"}}, {1, 0, "PT", {"P", "TB"}}, {2, 0, "TB", {"TTB", "T"}},
    {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("pushes relaxed", "record_pool.push", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("pops relaxed", "record_pool.pop", ORDER_RELAXED, RACE, RACE, RACE),
    FAULT("pops without the lock", "pop_lock", RACE, RACE, RACE),
    {.what = NULL},
};

const kind record_pool_kind = {
    .name = "record_pool",
    .owner = "PTB",
    .thief = "PTB",
    .programs = programs,
    .mutants = mutants,
    .threads = NUMBERED("worker"),
    .data = {"the records in the magazine"},
    .races = true,
    .setup = setup,
    .run = run,
    .at_end = drain,
    .summary = summary,
    .value_name = value_name,
};
