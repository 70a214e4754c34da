/* Pseudorandom numbers for the choice of victims and for tests.  A seed repeats its sequence.  Not
 * for cryptography.
 *
 * The generator is xoroshiro128++ (Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", 2021).  SplitMix64 fills its state from the seed, so that similar seeds give
 * unrelated sequences. */
#ifndef FI_BASE_RNG_H
#define FI_BASE_RNG_H

#include <stdint.h>

/* Never all zeros once seeded, because that state is a fixed point. */
typedef struct fi_rng {
    uint64_t a;
    uint64_t b;
} fi_rng;

/* [any] SplitMix64: add a fixed odd number to the state, and scramble the sum. */
static inline uint64_t fi_rng_scramble(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* [owner] Any seed is allowed, also 0. */
static inline void fi_rng_seed(fi_rng *r, uint64_t seed)
{
    /* Never both 0: the scrambling is a bijection, and the two states differ. */
    r->a = fi_rng_scramble(&seed);
    r->b = fi_rng_scramble(&seed);
}

/* [any] The generator of the calling thread.  It is seeded on first use, differently in every
 * thread, and again in the child of a fork.  Call this again after anything that may park the
 * fiber, because the fiber may continue on another thread. */
fi_rng *fi_rng_thread(void);

static inline uint64_t fi_rng_rotl(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

/* [owner] 64 random bits. */
static inline uint64_t fi_rng_next(fi_rng *r)
{
    uint64_t a = r->a;
    uint64_t b = r->b ^ a;
    uint64_t result = fi_rng_rotl(a + r->b, 17) + a;

    r->a = fi_rng_rotl(a, 49) ^ b ^ b << 21;
    r->b = fi_rng_rotl(b, 28);
    return result;
}

/* [owner] A uniformly distributed number from 0 to n-1.  0 if n is 0.
 *
 * The high half of a 32 x 32 bit product is the number.  The low half is the position of the draw
 * among those with the same number.  Rejecting the first 2^32 mod n positions leaves equally many
 * draws for each number (Lemire, "Fast random integer generation in an interval", 2019). */
static inline uint32_t fi_rng_below(fi_rng *r, uint32_t n)
{
    uint64_t product = (fi_rng_next(r) >> 32) * n;

    if ((uint32_t)product < n) {
        uint32_t rejected = (0 - n) % n;
        while ((uint32_t)product < rejected)
            product = (fi_rng_next(r) >> 32) * n;
    }
    return (uint32_t)(product >> 32);
}

#endif
