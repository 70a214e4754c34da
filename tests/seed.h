/* Random tests print their seed and accept it again: FILCH_SEED=123 ctest -R NAME. */
#ifndef TESTS_SEED_H
#define TESTS_SEED_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t seed_get(void)
{
    const char *given = getenv("FILCH_SEED");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed =
        given ? strtoull(given, NULL, 0) : (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 20;
    printf("seed: FILCH_SEED=%" PRIu64 "\n", seed);
    fflush(stdout);
    return seed;
}

#endif
