/* Replaces base/mem.h in the explorer: memory comes from an arena that is reset for each execution,
 * so that addresses repeat.  Arrays become locations of the machine. */
#ifndef EXPLORE_MEM_H
#define EXPLORE_MEM_H

#include <stddef.h>

void *x_alloc(size_t size);
void *x_alloc_array(size_t size, size_t n);
void x_free(const void *p, size_t size);

#define FI_NEW(type)                ((type *)x_alloc(sizeof(type)))
#define FI_DELETE(type, p)          x_free((p), sizeof(type))
#define FI_NEW_ARRAY(type, n)       ((type *)x_alloc_array(sizeof(type), (n)))
#define FI_DELETE_ARRAY(type, p, n) x_free((p), (n) * sizeof(type))

#endif
