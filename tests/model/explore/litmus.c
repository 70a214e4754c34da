/* A test of the explorer: litmus tests of the literature, each with the set of outcomes that the
 * models allow.  It must find all of them and no other.
 *
 * x and y are atomics that start at 0.  An outcome has a digit for the value that each load
 * reads. */
#include "explore/machine.h"

#include "base/atomic.h"
#include "base/futex.h"
#include "base/lock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OUTCOMES = 64, MAX_DIGITS = 4 };

typedef struct litmus {
    const char *name;
    void (*run[MAX_THREADS])(void);
    const char *rc11, *tso; /* outcomes, sorted, separated by blanks */
} litmus;

static struct {
    FI_ATOMIC(uint64_t) x, y;
    FI_ATOMIC(uint32_t) word;
    fi_lock lock;
} cells;
#define X (&cells.x)
#define Y (&cells.y)
#define W (&cells.word)

static uint64_t digit[MAX_DIGITS];
static int digits;
static const litmus *now;
static char found[MAX_OUTCOMES][MAX_DIGITS + 1];
static int outcomes;

#define READS(i, load)                                                                             \
    do {                                                                                           \
        uint64_t value = (load);                                                                   \
        digit[i] = value;                                                                          \
    } while (0)

/* Store buffering: both threads may miss the other's store. */
static void sb_1(void)
{
    fi_store_relaxed(X, UINT64_C(1));
    READS(0, fi_load_relaxed(Y));
}
static void sb_2(void)
{
    fi_store_relaxed(Y, UINT64_C(1));
    READS(1, fi_load_relaxed(X));
}
static void sb_fenced_1(void)
{
    fi_store_relaxed(X, UINT64_C(1));
    fi_fence_seq_cst(litmus.fence);
    READS(0, fi_load_relaxed(Y));
}
static void sb_fenced_2(void)
{
    fi_store_relaxed(Y, UINT64_C(1));
    fi_fence_seq_cst(litmus.fence);
    READS(1, fi_load_relaxed(X));
}

static void sb_light_1(void)
{
    fi_store_relaxed(X, UINT64_C(1));
    fi_fence_light(litmus.light);
    READS(0, fi_load_relaxed(Y));
}
static void sb_light_2(void)
{
    fi_store_relaxed(Y, UINT64_C(1));
    fi_fence_light(litmus.light);
    READS(1, fi_load_relaxed(X));
}
static void sb_heavy_2(void)
{
    fi_store_relaxed(Y, UINT64_C(1));
    fi_fence_heavy(litmus.heavy);
    READS(1, fi_load_relaxed(X));
}
/* What is stored after the light one is not before it. */
static void sb_too_light_1(void)
{
    fi_fence_light(litmus.light);
    fi_store_relaxed(X, UINT64_C(1));
    READS(0, fi_load_relaxed(Y));
}

/* Message passing: flag Y seen, is the message X seen too? */
static void mp_relaxed(void)
{
    fi_store_relaxed(X, UINT64_C(1));
    fi_store_relaxed(Y, UINT64_C(1));
}
static void mp_release(void)
{
    fi_store_relaxed(X, UINT64_C(1));
    fi_store_release(Y, UINT64_C(1), litmus.flag);
}
static void mp_acquire(void)
{
    READS(0, fi_load_acquire(Y, litmus.flag));
    READS(1, fi_load_relaxed(X));
}
static void mp_fence(void)
{
    READS(0, fi_load_relaxed(Y));
    fi_fence_seq_cst(litmus.fence);
    READS(1, fi_load_relaxed(X));
}
static void mp_store_fence(void)
{
    fi_store_relaxed(X, UINT64_C(1));
    fi_fence_seq_cst(litmus.fence);
    fi_store_relaxed(Y, UINT64_C(1));
}

static void mp_store_light(void)
{
    fi_store_relaxed(X, UINT64_C(1));
    fi_fence_light(litmus.light);
    fi_store_relaxed(Y, UINT64_C(1));
}
static void mp_store_heavy(void)
{
    fi_store_relaxed(X, UINT64_C(1));
    fi_fence_heavy(litmus.heavy);
    fi_store_relaxed(Y, UINT64_C(1));
}
static void mp_light(void)
{
    READS(0, fi_load_relaxed(Y));
    fi_fence_light(litmus.light);
    READS(1, fi_load_relaxed(X));
}
static void mp_heavy(void)
{
    READS(0, fi_load_relaxed(Y));
    fi_fence_heavy(litmus.heavy);
    READS(1, fi_load_relaxed(X));
}

/* Release sequences: a later relaxed store of the same thread does not continue one, ... */
static void sequence_store(void)
{
    fi_store_relaxed(X, UINT64_C(1));
    fi_store_release(Y, UINT64_C(1), litmus.flag);
    fi_store_relaxed(Y, UINT64_C(2));
}
/* ... a read-modify-write, even of another thread and relaxed, does. */
static void sequence_add(void)
{
    fi_fetch_add_relaxed(Y, UINT64_C(1));
}

/* Coherence: two loads of one location never go backwards. */
static void corr_write(void)
{
    fi_store_relaxed(X, UINT64_C(1));
    fi_store_relaxed(X, UINT64_C(2));
}
static void corr_read(void)
{
    READS(0, fi_load_relaxed(X));
    READS(1, fi_load_relaxed(X));
}

/* Load buffering: nothing is read before it is written. */
static void lb_1(void)
{
    READS(0, fi_load_relaxed(X));
    fi_store_relaxed(Y, UINT64_C(1));
}
static void lb_2(void)
{
    READS(1, fi_load_relaxed(Y));
    fi_store_relaxed(X, UINT64_C(1));
}

/* Independent reads of independent writes: may two readers disagree about the order? */
static void write_x(void)
{
    fi_store_relaxed(X, UINT64_C(1));
}
static void write_y(void)
{
    fi_store_relaxed(Y, UINT64_C(1));
}
static void iriw_1(void)
{
    READS(0, fi_load_acquire(X, litmus.read));
    READS(1, fi_load_acquire(Y, litmus.read));
}
static void iriw_2(void)
{
    READS(2, fi_load_acquire(Y, litmus.read));
    READS(3, fi_load_acquire(X, litmus.read));
}

/* Two writers, one location: both orders, and a store may slip in before one that is there already.
 */
static void w_1(void)
{
    fi_store_relaxed(X, UINT64_C(1));
    READS(0, fi_load_relaxed(X));
}
static void w_2(void)
{
    fi_store_relaxed(X, UINT64_C(2));
    READS(1, fi_load_relaxed(X));
}

/* Additions are never lost; a CAS wins once. */
static void add(void)
{
    fi_fetch_add_relaxed(X, UINT64_C(1));
}
static void cas_1(void)
{
    uint64_t expected = 0;
    READS(0, (uint64_t)fi_cas_relaxed(X, &expected, UINT64_C(1)));
}
static void cas_2(void)
{
    uint64_t expected = 0;
    READS(1, (uint64_t)fi_cas_relaxed(X, &expected, UINT64_C(1)));
}

/* Two CASes by one thread that may miss an addition: what a thread read first is part of its
 * state. */
static void cas_twice(void)
{
    for (int i = 0; i < 2; i++) {
        uint64_t expected = 1;
        READS(i, (uint64_t)fi_cas_relaxed(X, &expected, UINT64_C(3)));
    }
}

/* A sum is as wide as its word. */
static void wrap(void)
{
    uint32_t expected = UINT32_MAX - 1;
    fi_fetch_add_relaxed(W, UINT32_MAX);
    fi_fetch_add_relaxed(W, UINT32_MAX);
    READS(0, (uint64_t)fi_cas_relaxed(W, &expected, 0u));
}

/* The explorer's lock: the second holder sees the writes of the first. */
static void locked_1(void)
{
    x_lock(&cells.lock);
    READS(0, fi_load_relaxed(X));
    fi_store_relaxed(X, UINT64_C(1));
    x_unlock(&cells.lock);
}
static void locked_2(void)
{
    x_lock(&cells.lock);
    READS(1, fi_load_relaxed(X));
    fi_store_relaxed(X, UINT64_C(2));
    x_unlock(&cells.lock);
}
/* The lock is not a fence for a thread that does not lock it. */
static void sb_locked(void)
{
    fi_store_relaxed(X, UINT64_C(1));
    x_lock(&cells.lock);
    x_unlock(&cells.lock);
    READS(0, fi_load_relaxed(Y));
}

/* Sleeping: 0 woken, 1 too late to sleep, 2 past the deadline. */
static uint64_t wait_result(int e)
{
    return e == 0 ? 0 : e == -EAGAIN ? 1 : 2;
}
static void sleeper(void)
{
    READS(0, wait_result(fi_futex_wait(W, 0, FI_FUTEX_FOREVER)));
}
static void sleeper_until(void)
{
    READS(0, wait_result(fi_futex_wait(W, 0, 1)));
}
static void waker(void)
{
    fi_store_relaxed(W, 1u);
    fi_futex_wake(W, 1);
}

static const litmus tests[] = {
    {"store buffering", {sb_1, sb_2}, "00 01 10 11", "00 01 10 11"},
    {"store buffering, fences", {sb_fenced_1, sb_fenced_2}, "01 10 11", "01 10 11"},
    {"store buffering, one fence", {sb_fenced_1, sb_2}, "00 01 10 11", "00 01 10 11"},
    {"store buffering, light and heavy", {sb_light_1, sb_heavy_2}, "01 10 11", "01 10 11"},
    {"store buffering, full and heavy", {sb_fenced_1, sb_heavy_2}, "01 10 11", "01 10 11"},
    {"store buffering, two light", {sb_light_1, sb_light_2}, "00 01 10 11", "00 01 10 11"},
    {"store buffering, light and full", {sb_light_1, sb_fenced_2}, "00 01 10 11", "00 01 10 11"},
    {"store buffering, light too early",
     {sb_too_light_1, sb_heavy_2},
     "00 01 10 11",
     "00 01 10 11"},
    {"message passing, relaxed", {mp_relaxed, mp_acquire}, "00 01 10 11", "00 01 11"},
    {"message passing, release/acquire", {mp_release, mp_acquire}, "00 01 11", "00 01 11"},
    {"message passing, fence after load", {mp_release, mp_fence}, "00 01 11", "00 01 11"},
    {"message passing, fence before store", {mp_store_fence, mp_acquire}, "00 01 11", "00 01 11"},
    {"message passing, light, then heavy", {mp_store_light, mp_heavy}, "00 01 11", "00 01 11"},
    {"message passing, heavy, then light", {mp_store_heavy, mp_light}, "00 01 11", "00 01 11"},
    {"message passing, light and acquire", {mp_store_light, mp_acquire}, "00 01 10 11", "00 01 11"},
    {"release sequence, own store", {sequence_store, mp_acquire}, "00 01 11 20 21", "00 01 11 21"},
    {"release sequence, other's add",
     {mp_release, sequence_add, mp_acquire},
     "00 01 10 11 21",
     "00 01 10 11 21"},
    {"coherence", {corr_write, corr_read}, "00 01 02 11 12 22", "00 01 02 11 12 22"},
    {"load buffering", {lb_1, lb_2}, "00 01 10", "00 01 10"},
    {"independent reads",
     {write_x, write_y, iriw_1, iriw_2},
     "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1010 1011 1100 1101 1110 1111",
     "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111"},
    {"two writers", {w_1, w_2}, "11 12 22", "11 12 22"},
    {"additions", {add, add}, "2", "2"},
    {"compare and swap", {cas_1, cas_2}, "01 10", "01 10"},
    {"compare and swap, twice", {cas_twice, add}, "00 01 10", "00 01 10"},
    {"a sum that wraps", {wrap}, "1", "1"},
    {"lock", {locked_1, locked_2}, "01 20", "01 20"},
    {"store buffering, lock and fence", {sb_locked, sb_fenced_2}, "00 01 10 11", "01 10 11"},
    {"sleep", {sleeper, waker}, "0 1", "0 1"},
    {"sleep with a deadline", {sleeper_until, waker}, "0 1 2", "0 1 2"},
};

static void setup(void)
{
    memset(digit, 0, sizeof digit);
    fi_atomic_init(X, UINT64_C(0));
    fi_atomic_init(Y, UINT64_C(0));
    fi_atomic_init(W, 0u);
    x_init(&cells.lock.word, 0, "lock");
}

static void record(void)
{
    char text[MAX_DIGITS + 1] = {0};
    for (int i = 0; i < digits; i++)
        text[i] = (char)('0' + digit[i]);
    for (int i = 0; i < outcomes; i++)
        if (strcmp(found[i], text) == 0)
            return;
    memcpy(found[outcomes++], text, sizeof text);
}

/* Thread 0 records the outcome, after all others have ended. */
static void run(int thread)
{
    if (thread > 0) {
        now->run[thread - 1]();
        return;
    }
    x_join();
    if (now->run[0] == add)
        READS(0, fi_load_relaxed(X));
    record();
}

/* The values that were read are the result, and so part of the state. */
static uint64_t summary(void)
{
    return digit[0] + 4 * digit[1] + 16 * digit[2] + 64 * digit[3];
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"recorder", "thread 1", "thread 2", "thread 3", "thread 4"};
    return names[thread];
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool agrees(const char *expected)
{
    char text[MAX_OUTCOMES * (MAX_DIGITS + 1)] = "";
    int n = 0;
    qsort(found, (size_t)outcomes, sizeof found[0], by_text);
    for (int i = 0; i < outcomes; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%s", i ? " " : "", found[i]);
    if (strcmp(text, expected) == 0)
        return true;
    printf("    expected %s\n    found    %s\n", expected, text);
    return false;
}

static bool run_litmus(const litmus *t, mode m)
{
    const char *expected = m == MODE_TSO ? t->tso : t->rc11;
    check c = {
        .mode = m, .setup = setup, .run = run, .summary = summary, .thread_name = thread_name};
    now = t;
    outcomes = 0;
    digits = (int)strcspn(expected, " ");
    c.threads = 1;
    while (c.threads <= MAX_THREADS - 1 && t->run[c.threads - 1])
        c.threads++;
    outcome o = explore(&c);
    bool good = o.verdict == OK && o.complete && agrees(expected);
    printf("%-38s %-5s %s\n", t->name, mode_name(m), good ? "ok" : "WRONG");
    return good;
}

int main(void)
{
    x_keep(found, sizeof found);
    x_keep(&outcomes, sizeof outcomes);
    int bad = 0, n = 0;
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        for (mode m = 0; m < MODES; m++, n++)
            bad += !run_litmus(&tests[i], m);
    printf("litmus: %d passed, %d failed\n", n - bad, bad);
    return bad > 0;
}
