/* Backtraces of parked fibers of another process, and names of its functions, by libdw of elfutils.
 * Without libdw at build time, there are no backtraces, and addresses are printed as numbers. */
#ifndef CLI_BACKTRACE_H
#define CLI_BACKTRACE_H

#include "remote.h"

enum { FRAMES_MAX = 24 };

typedef struct symbols symbols;

/* Find the files of the process.  NULL: impossible, and *why says why. */
symbols *symbols_open(pid_t pid, const char **why);
void symbols_close(symbols *s);

/* A copy of the stack of a fiber, from the stack pointer up. */
typedef struct stack_copy {
    uint64_t registers[REMOTE_REGISTERS];
    const unsigned char *bytes; /* the first is at the stack pointer */
    size_t size;
} stack_copy;

/* The return addresses on the stack, the innermost first.  Returns how many. */
unsigned backtrace_read(symbols *s, const stack_copy *stack, uint64_t at[FRAMES_MAX]);

/* An address as text: "function+offset (file) source:line", or as much as is known.  s may be
 * NULL. */
void symbol_name(symbols *s, uint64_t address, char *text, size_t size);

/* Is the address in a function of Filch that users do not call?  body: the function of the fiber,
 * which is never one. */
bool symbol_is_internal(symbols *s, uint64_t address, uint64_t body);

/* Are both addresses in the same function? */
bool symbol_is_same(symbols *s, uint64_t a, uint64_t b);

#endif
