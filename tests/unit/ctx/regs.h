/* Every callee-saved register, set and read in assembly. */
#ifndef TESTS_UNIT_CTX_REGS_H
#define TESTS_UNIT_CTX_REGS_H

#include <stdint.h>

#if defined __x86_64__
#define REGS 6 /* rbx rbp r12 r13 r14 r15 */
#elif defined __aarch64__
#define REGS 19 /* x19 to x29, d8 to d15 */
#else
#define REGS 0
#endif

/* Load the registers from in[], call fn, and store them to out[]. */
void regs_around(void (*fn)(void), const uint64_t *in, uint64_t *out);

#endif
