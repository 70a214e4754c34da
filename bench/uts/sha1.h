/* SHA-1 of a message that fits into one block. */
#ifndef BENCH_UTS_SHA1_H
#define BENCH_UTS_SHA1_H

#include <stdint.h>

/* The message has `words` 32-bit big-endian words, at most 13. */
void sha1_short(const uint32_t *message, int words, uint32_t digest[5]);

#endif
