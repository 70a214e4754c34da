/* A waiter sees each condition that was made true before a ring, and does not sleep then.
 *
 * Owner: L wait until all conditions are true, C the same, but check them once more before the
 * sleep.  Thief: R make a condition true and ring. */
#include "explore/kind.h"

#include "base/futex.h"

/* The kernel sleeps only if the word is as expected. */
static void futex_wait(FI_ATOMIC(uint32_t) * word, uint32_t expected)
{
    if (x_fault("sleep_compares"))
        expected = (uint32_t)x_peek(word);
    fi_futex_wait(word, expected, FI_FUTEX_FOREVER);
}

static void futex_wake(FI_ATOMIC(uint32_t) * word)
{
    if (!x_fault("ring_wakes"))
        fi_futex_wake(word, 1);
}

#define FI_DOORBELL_FUTEX_WAIT(doorbell, expected, ns)                                             \
    ((void)(ns), futex_wait((doorbell), (expected)))
#define FI_DOORBELL_FUTEX_WAKE(doorbell) futex_wake(doorbell)
#include "transport/doorbell.h"

#include <string.h>

enum { SOME_TIME = 1 };

static fi_doorbell doorbell;
static FI_ATOMIC(uint32_t) made[MAX_THREADS]; /* conditions made true by each ringer */

static void setup(void)
{
    static const char *const names[MAX_THREADS] = {"", "made 1", "made 2", "made 3", "made 4"};
    x_init(&doorbell, FI_DOORBELL_AWAKE, "doorbell");
    for (int i = 1; i < program_threads(); i++)
        x_init(&made[i], 0, names[i]);
}

static bool is_all_made(void)
{
    bool all = true;
    for (int i = 1; i < program_threads(); i++)
        all &= fi_load_relaxed(&made[i]) == strlen(program_now->thieves[i - 1]);
    return all;
}

/* As in transport/mpi.c. */
static void wait_once(bool check_again)
{
    if (!fi_doorbell_prepare(&doorbell))
        return;
    if (check_again && is_all_made())
        fi_doorbell_cancel(&doorbell);
    else
        fi_doorbell_wait(&doorbell, SOME_TIME);
}

static void wait_until_all_made(bool check_again)
{
    for (;;) {
        x_forget(1);
        if (is_all_made())
            return;
        if (x_fault("consume_first"))
            fi_doorbell_consume(&doorbell);
        wait_once(check_again);
    }
}

static void make_and_ring(int thread, uint32_t n)
{
    if (x_fault("ring_last"))
        fi_doorbell_ring(&doorbell);
    x_say("make the condition true");
    fi_store_relaxed(&made[thread], n);
    if (!x_fault("ring_last"))
        fi_doorbell_ring(&doorbell);
}

static void operate(const operation *op)
{
    if (op->letter == 'R')
        make_and_ring(op->thread, (uint32_t)op->index + 1);
    else
        wait_until_all_made(op->letter == 'C');
}

static const program programs[] = {
    {0, 0, "L", {"R"}},       {0, 0, "C", {"R"}},      {0, 0, "L", {"RR"}},
    {0, 0, "L", {"R", "R"}},  {0, 0, "C", {"R", "R"}}, {0, 0, "L", {"RR", "R"}},
    {0, 0, "C", {"RR", "R"}}, {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("rings relaxed", "doorbell.ring", ORDER_RELAXED, HANG, HANG, OK),
    WEAKER("consumes rings relaxed", "doorbell.consume", ORDER_RELAXED, HANG, HANG, OK),
    FAULT("consumes the ring after it has checked the condition", "consume_first", HANG, HANG,
          HANG),
    FAULT("sleeps without comparing the word", "sleep_compares", HANG, HANG, HANG),
    FAULT("rings before the condition is true", "ring_last", HANG, HANG, HANG),
    FAULT("rings without waking the sleeper", "ring_wakes", HANG, HANG, HANG),
    {.what = NULL},
};

const kind doorbell_kind = {
    .name = "doorbell",
    .owner = "LC",
    .thief = "R",
    .programs = programs,
    .mutants = mutants,
    .threads = OWNER_AND("waiter", "ringer"),
    .setup = setup,
    .operate = operate,
};
