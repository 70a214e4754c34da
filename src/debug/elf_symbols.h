/* Names of functions that are only in the symbol table of their file.  dladdr finds exported ones
 * only. */
#ifndef FI_DEBUG_ELF_SYMBOLS_H
#define FI_DEBUG_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* [any] The name of the function at this address, in a file that was loaded at base.  offset: from
 * the beginning of the function.  Allocates no memory except a mapping of the file.  False: not
 * found; the file may be stripped. */
bool fi_elf_symbol_find(const char *file, const void *base, const void *at, char *name, size_t size,
                        ptrdiff_t *offset);

#endif
