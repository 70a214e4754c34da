#include "base/rng.h"
#include "base/at_fork.h"
#include "base/atomic.h"
#include "base/clock.h"

#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static _Thread_local fi_rng thread_rng; /* all zeros: not seeded */
static FI_ATOMIC(uint64_t) threads_seeded;
static uint64_t fork_salt; /* written in a child of fork, before it can have a second thread */

/* [any] Random bytes that the kernel gives to every new process.  Reading them needs no system
 * call. */
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
    uint64_t index = fi_fetch_add_relaxed(&threads_seeded, 1); /* only has to be unique */
    uint64_t seed = process_seed() ^ fork_salt ^ index;

    fi_rng_seed(&thread_rng, fi_rng_scramble(&seed));
}

/* [child of a fork] The child has the random bytes, counter and generator of its parent.  Its
 * process id differs from that of all living processes, and the time from that of an earlier
 * process with the same id.  Scrambling keeps the seeds of different processes apart. */
static void rng_fork_child(void)
{
    uint64_t seed = fork_salt ^ (uint64_t)getpid() << 40 ^ (uint64_t)fi_clock_now();

    fork_salt = fi_rng_scramble(&seed);
    seed_thread();
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_RANDOM, NULL, rng_fork_child);
}

/* noinline: the compiler may compute the address of a thread-local once per function, and keep it
 * across a switch to another thread.  This function does not switch. */
__attribute__((noinline)) fi_rng *fi_rng_thread(void)
{
    __asm__ volatile(""); /* two calls must not be merged into one */
    if ((thread_rng.a | thread_rng.b) == 0)
        seed_thread();
    return &thread_rng;
}
