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

static _Thread_local struct luck {
    fi_rng rng;
    bool is_seeded;
} luck;

static void ask_environment(void)
{
    const char *text = secure_getenv("FILCH_CHAOS");

    is_on = text && *text;
    if (is_on)
        seed = strtoull(text, NULL, 0);
}

/* A call of its own, so that nobody keeps the address of what is the thread's. */
__attribute__((noinline)) bool fi_chaos(unsigned one_in)
{
    struct luck *l = &luck;

    __asm__ volatile("" : "+r"(l)::"memory");
    pthread_once(&once, ask_environment);
    if (!is_on)
        return false;
    if (!l->is_seeded)
        fi_rng_seed(&l->rng, seed + fi_fetch_add_relaxed(&threads, UINT64_C(1)));
    l->is_seeded = true;
    return fi_rng_below(&l->rng, one_in) == 0;
}

#else

/* ISO C wants a translation unit to declare something. */
typedef int fi_chaos_empty_unit;

#endif
