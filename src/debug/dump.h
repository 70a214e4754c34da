/* The list of all fibers, and backtraces, as text. */
#ifndef FI_DEBUG_DUMP_H
#define FI_DEBUG_DUMP_H

#include "base/message.h"
#include "sched/worker.h"

/* [any] Write the list of all fibers.  Each fiber is frozen for the moment of its snapshot; the
 * others run meanwhile.  Returns: 0 or -errno. */
int fi_dump(fi_runtime *rt, int fd);

/* [any] The same as messages. */
void fi_dump_message(fi_runtime *rt, filch_level level);

/* [any] A number for the set of all waits: which fiber waits for what, and since when.  0: no
 * memory. */
uint64_t fi_dump_waits_hash(fi_runtime *rt);

/* [any] The name of the fiber, truncated to size.  A running fiber may change its name
 * meanwhile. */
void fi_dump_name(const fi_fiber *f, char *name, size_t size);

/* [thread that has frozen the fiber] Its return addresses, the innermost first.  Returns: how many.
 * backtrace.c */
unsigned fi_backtrace(const fi_fiber *f, const void **at, unsigned max);

/* [any] True: the address is in a private function of libfilch.so.  Always false for a static
 * library. */
bool fi_frame_is_internal(const void *at);

/* [any] An address as text: "function+offset (file)", or "file+offset", or the number. */
void fi_frame_name(const void *at, char *text, size_t size);

/* [any] The name of the function that begins at this address.  Also reads the symbol table of its
 * file, which takes longer. */
void fi_function_name(const void *at, char *text, size_t size);

#endif
