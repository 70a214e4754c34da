/* Random numbers for choosing victims and for tests: small, fast, and the same again for the same
 * seed.  Not for secrets.
 *
 * The generator is xoroshiro128++ (Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", 2021), its state filled from the seed by the SplitMix64 step, so that seeds which
 * differ in one bit give streams with nothing in common.
 */
#ifndef FI_BASE_RNG_H
#define FI_BASE_RNG_H

#include <stdint.h>

/* Never all zeros once seeded: from there the generator could not move. */
typedef struct fi_rng {
    uint64_t a;
    uint64_t b;
} fi_rng;

/* [owner] Every seed is a good one, 0 too. */
void fi_rng_seed(fi_rng *r, uint64_t seed);

/* [any] The calling thread's own generator, seeded on first use and differently in every thread,
 * and seeded anew in the child of a fork(), even where the parent had chosen the seed.
 * Ask again after anything that may park the fiber: it may go on in another thread. */
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

/* [owner] One of 0 .. n-1, each exactly as likely; 0 when n is 0.
 *
 * The high half of a 32 x 32 bit product is the number; the low half says where in its share of the
 * 2^32 draws we are.  Shares differ by one draw, so the first 2^32 mod n draws of each are refused.
 * (Lemire, "Fast random integer generation in an interval", 2019.) */
static inline uint32_t fi_rng_below(fi_rng *r, uint32_t n)
{
    uint64_t product = (fi_rng_next(r) >> 32) * n;

    if ((uint32_t)product < n) {
        uint32_t refused = (0 - n) % n;
        while ((uint32_t)product < refused)
            product = (fi_rng_next(r) >> 32) * n;
    }
    return (uint32_t)(product >> 32);
}

#endif
