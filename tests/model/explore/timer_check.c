/* A timer fires at most once, and never after it was removed.  Then its memory may be reused.
 *
 * All: A add the thread's timer, T add it again if it has fired, as the call of a ticker does, R
 * remove it and reuse its memory, F fire all timers.  A removed timer does not
 * fire, and its fire() has returned. */
#include "explore/kind.h"

#include "base/timer_heap.h"

#include <string.h>

static fi_timer_heap timers;
static fi_timer_entry heap[MAX_THREADS];
static fi_timer_slot slots[MAX_THREADS];
static fi_timer timer[MAX_THREADS];
static FI_ATOMIC(uint32_t) submitted[MAX_THREADS]; /* by fire(), for the tick */
static unsigned added, fired;                      /* a bit for each thread whose timer it is */

static void setup(void)
{
    static const char *const states[] = NUMBERED("state");
    static const char *const calls[] = NUMBERED("call");
    added = fired = 0;
    memset(&timers, 0, sizeof timers);
    memset(timer, 0, sizeof timer);
    memset(heap, 0, sizeof heap);
    timers.heap = heap;
    timers.slots = slots;
    timers.capacity = MAX_THREADS;
    timers.free_index = 1;
    for (uint32_t i = 0; i < MAX_THREADS; i++)
        slots[i].next_free = (i + 2) % (MAX_THREADS + 1);
    x_init(&timers.lock.word, 0, "lock");
    x_init(&timers.next_ns, (uint64_t)FI_TIMER_NEVER, "next");
    for (int i = 0; i < program_threads(); i++)
        x_init(&timer[i].state, 0, states[i]), x_init(&submitted[i], 0, calls[i]);
}

static void fire(fi_timer *t)
{
    int i = (int)(t - timer);
    x_say("fire %d", i);
    if (!(added & 1u << i))
        x_fail(WRONG, "a removed timer fires");
    if (fired & 1u << i)
        x_fail(TWICE, "a timer fires twice");
    fired |= 1u << i;
    x_data_read(i);
    fi_store_relaxed(&submitted[i], 1u);
}

static void add(int self)
{
    x_say("add %d", self);
    x_data_write(self);
    timer[self].deadline_ns = self;
    timer[self].fire = fire;
    added |= 1u << self;
    fired &= ~(1u << self);
    fi_timer_heap_add(&timers, &timer[self]);
}

/* fire() has submitted the call, but may not have returned. */
static void tick(int self)
{
    if (fi_load_relaxed(&submitted[self]) == 0)
        return;
    fi_store_relaxed(&submitted[self], 0u);
    x_say("tick %d", self);
    if (!FI_FAULT(tick_waits))
        fi_timer_heap_remove(&timer[self]);
    add(self);
}

static void remove_timer(int self)
{
    x_say("remove %d", self);
    fi_timer_heap_remove(&timer[self]);
    x_say("reuse the memory");
    added &= ~(1u << self);
    x_data_write(self);
}

static void operate(const operation *op)
{
    if (op->letter == 'A')
        add(op->thread);
    else if (op->letter == 'T')
        tick(op->thread);
    else if (op->letter == 'R')
        remove_timer(op->thread);
    else
        fi_timer_heap_fire(&timers, MAX_THREADS);
}

/* The heap is plain memory under the lock, and so is the list of due timers. */
static uint64_t summary(void)
{
    uint64_t h = added * 16 + fired;
    for (int i = 0; i < MAX_THREADS; i++) {
        h = h * 31 + timer[i].index;
        h = h * 31 + X_BITS(timer[i].next_due);
        h = h * 31 + X_BITS(slots[i].timer);
    }
    for (uint32_t i = 0; i < timers.n; i++)
        h = h * 31 + heap[i].index;
    return (h * 31 + timers.n) * 31 + timers.free_index;
}

static const char *value_name(uint64_t value)
{
    return value == (uint64_t)FI_TIMER_NEVER ? "never" : NULL;
}

static const program programs[] = {
    {0, 0, "AR", {"F"}},       {0, 0, "ARAR", {"FF"}},   {0, 0, "ATR", {"FF"}},
    {0, 0, "AR", {"AR", "F"}}, {0, 0, "AR", {"F", "F"}}, {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("sets FIRED relaxed", "timer_heap.fired", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("reads FIRED relaxed", "timer_heap.state", ORDER_RELAXED, RACE, RACE, RACE),
    FAULT("a ticker is added again while it fires", "tick_waits", RACE, RACE, RACE),
    {.what = NULL},
};

const kind timer_kind = {
    .name = "timer",
    .owner = "ATRF",
    .thief = "ATRF",
    .programs = programs,
    .mutants = mutants,
    .threads = NUMBERED("thread"),
    .data = {"the timer"},
    .races = true,
    .setup = setup,
    .operate = operate,
    .summary = summary,
    .value_name = value_name,
};
