/* Names of functions that only their file knows: the loader is told of those that others may call. */
#ifndef FI_DEBUG_ELF_SYMBOLS_H
#define FI_DEBUG_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* [any] The function at this address, in a file that was loaded at base.  offset: from its beginning.  False: the file does not tell;
 * it may be stripped.  Needs no memory but the kernel's. */
bool fi_elf_symbol_find(const char *file, const void *base, const void *at, char *name, size_t size,
                        ptrdiff_t *offset);

#endif
