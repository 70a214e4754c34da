#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif
#include "base/chaos.h"

#ifdef FILCH_CHAOS

#include "base/atomic.h"
#include "base/rng.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_on;
static uint64_t seed;
static FI_ATOMIC(uint64_t) threads;

static _Thread_local struct thread_chaos {
    fi_rng rng;
    bool is_seeded;
} thread_chaos;

static void read_environment(void)
{
    const char *text = secure_getenv("FILCH_CHAOS");

    is_on = text && *text;
    if (is_on)
        seed = strtoull(text, NULL, 0);
}

/* noinline: the address of a thread-local must not live across a switch to another thread. */
__attribute__((noinline)) bool fi_chaos(unsigned one_in)
{
    struct thread_chaos *c = &thread_chaos;

    __asm__ volatile("" : "+r"(c)::"memory");
    pthread_once(&once, read_environment);
    if (!is_on)
        return false;
    if (!c->is_seeded)
        fi_rng_seed(&c->rng, seed + fi_fetch_add_relaxed(&threads, UINT64_C(1)));
    c->is_seeded = true;
    return fi_rng_below(&c->rng, one_in) == 0;
}

#else

/* ISO C requires a declaration in each translation unit. */
typedef int fi_chaos_empty_unit;

#endif
