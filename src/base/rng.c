#include "base/rng.h"
#include "base/at_fork.h"
#include "base/atomic.h"
#include "base/clock.h"

#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static _Thread_local fi_rng thread_rng; /* all zeros: not seeded yet */
static FI_ATOMIC(uint64_t) threads_seeded;
static uint64_t fork_salt; /* written in a child of fork, before it can have a second thread */

/* [any] SplitMix64: step the state by a fixed odd number and scramble it. */
static uint64_t split_mix(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

void fi_rng_seed(fi_rng *r, uint64_t seed)
{
    /* Two draws in a row are never both 0: the scrambling is one to one and the states differ. */
    r->a = split_mix(&seed);
    r->b = split_mix(&seed);
}

/* [any] Random bytes that the kernel leaves in every new process, for no system call. */
static uint64_t process_seed(void)
{
    const void *bytes = (const void *)getauxval(AT_RANDOM);
    uint64_t seed = 0;

    if (bytes != NULL)
        memcpy(&seed, bytes, sizeof seed);
    return seed;
}

static void seed_thread(void)
{
    uint64_t mine = fi_fetch_add_relaxed(&threads_seeded, 1); /* only has to be unique */
    uint64_t seed = process_seed() ^ fork_salt ^ mine;

    fi_rng_seed(&thread_rng, split_mix(&seed));
}

/* [child of fork] It has its parent's random bytes, counter and generator.  The number of the
 * process tells it from its living relatives, the time from those before it with the same number.
 * Scrambled, so that no thread of either comes to a seed of the other. */
static void on_fork(void)
{
    uint64_t seed = fork_salt ^ (uint64_t)getpid() << 40 ^ (uint64_t)fi_clock_now();

    fork_salt = split_mix(&seed);
    seed_thread();
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_RANDOM, NULL, on_fork);
}

/* noinline: the compiler may take the address of a thread-local once per function, and keep it over
 * a switch that ends in another thread.  Here, no switch can come in between. */
__attribute__((noinline)) fi_rng *fi_rng_thread(void)
{
    __asm__ volatile(""); /* nor may two calls be taken for one */
    if ((thread_rng.a | thread_rng.b) == 0)
        seed_thread();
    return &thread_rng;
}
