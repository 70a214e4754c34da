/* SHA-1 (FIPS 180-4) of one block. */
#include "sha1.h"

#include <string.h>

static uint32_t rotate(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

static uint32_t choose(uint32_t b, uint32_t c, uint32_t d)
{
    return d ^ (b & (c ^ d));
}

static uint32_t parity(uint32_t b, uint32_t c, uint32_t d)
{
    return b ^ c ^ d;
}

static uint32_t majority(uint32_t b, uint32_t c, uint32_t d)
{
    return (b & c) | (d & (b | c));
}

/* The message, a one bit, zeros, its length in bits. */
static void pad(uint32_t w[16], const uint32_t *message, int words)
{
    memset(w, 0, 16 * sizeof *w);
    memcpy(w, message, (unsigned)words * sizeof *w);
    w[words] = UINT32_C(0x80000000);
    w[15] = (uint32_t)words * 32;
}

/* The message word of step t, computed from the 16 words before it. */
static inline uint32_t word(uint32_t w[16], unsigned t)
{
    if (t >= 16)
        w[t & 15] = rotate(w[(t - 3) & 15] ^ w[(t - 8) & 15] ^ w[(t - 14) & 15] ^ w[t & 15], 1);
    return w[t & 15];
}

/* The reference program of UTS unrolls its loops.  uts-cluster is compared with it, so it does, too. */
#ifdef SHA1_UNROLL
#define UNROLL _Pragma("GCC unroll 20")
#else
#define UNROLL
#endif

/* 20 steps with one mixing function. */
#define ROUND(mix, constant, from)                                                                 \
    UNROLL                                                                                         \
    for (unsigned t = (from); t < (from) + 20; t++) {                                              \
        uint32_t next = rotate(a, 5) + mix(b, c, d) + e + (constant) + word(w, t);                 \
        e = d;                                                                                     \
        d = c;                                                                                     \
        c = rotate(b, 30);                                                                         \
        b = a;                                                                                     \
        a = next;                                                                                  \
    }

void sha1_short(const uint32_t *message, int words, uint32_t digest[5])
{
    static const uint32_t start[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    uint32_t a = start[0], b = start[1], c = start[2], d = start[3], e = start[4];
    uint32_t w[16];
    pad(w, message, words);
    ROUND(choose, 0x5a827999, 0)
    ROUND(parity, 0x6ed9eba1, 20)
    ROUND(majority, 0x8f1bbcdc, 40)
    ROUND(parity, 0xca62c1d6, 60)
    digest[0] = start[0] + a;
    digest[1] = start[1] + b;
    digest[2] = start[2] + c;
    digest[3] = start[3] + d;
    digest[4] = start[4] + e;
}
