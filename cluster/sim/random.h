/* splitmix64: the random numbers of the simulator and of its trees. */
#ifndef FI_SIM_RANDOM_H
#define FI_SIM_RANDOM_H

#include <stdint.h>

#define FI_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t fi_mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t fi_random(uint64_t *state)
{
    return fi_mix(*state += FI_GOLDEN);
}

/* A number below n, which is less than 2^32. */
static inline uint64_t fi_random_below(uint64_t *state, uint64_t n)
{
    return (fi_random(state) >> 32) * n >> 32;
}

/* From 0 to 1, without 1. */
static inline double fi_random_fraction(uint64_t *state)
{
    return (double)(fi_random(state) >> 11) * 0x1p-53;
}

#endif
