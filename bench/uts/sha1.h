/* SHA-1 of a message that fits into one block, as the trees need it. */
#ifndef BENCH_UTS_SHA1_H
#define BENCH_UTS_SHA1_H

#include <stdint.h>

/* The message is `words` words of 32 bits, most significant byte first, 13 at most. */
void sha1_short(const uint32_t *message, int words, uint32_t digest[5]);

#endif
