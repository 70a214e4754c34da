/* Structs whose size the caller passes.  A program may be compiled with an older or a newer header
 * than the library, and then its struct has fewer or more fields at the end. */
#ifndef FI_BASE_SIZED_H
#define FI_BASE_SIZED_H

#include <stddef.h>

/* [any] Copy the caller's struct.  Fields that the caller does not have become 0.
 * from: NULL means a struct of zeros.
 * Returns 0, or -EINVAL after a message: a field that this library does not have is not 0. */
int fi_sized_read(const char *function, void *to, size_t to_size, const void *from,
                  size_t from_size);

/* [any] Copy a struct to the caller.  Fields that this library does not have become 0. */
void fi_sized_write(void *to, size_t to_size, const void *from, size_t from_size);

#endif
