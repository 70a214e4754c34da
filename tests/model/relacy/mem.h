/* Replaces base/mem.h for relacy: objects are constructed, and relacy tracks them. */
#ifndef RELACY_MEM_H
#define RELACY_MEM_H

#include "relacy/atomic.h"

/* relacy's allocator ignores alignment. */
#undef FI_CACHE_ALIGNED
#define FI_CACHE_ALIGNED

/* base/mem.h returns zeroed memory: a thief that is too late may read a slot that never held an
 * item. */
template <class T> static T *zeroed(T *array, size_t n)
{
    for (size_t i = 0; i < n; i++)
        array[i].store(0, rl::mo_relaxed, RL_INFO);
    return array;
}

#define FI_NEW(type)                (new type())
#define FI_DELETE(type, p)          (delete (p))
#define FI_NEW_ARRAY(type, n)       zeroed(new type[n](), (n))
#define FI_DELETE_ARRAY(type, p, n) (delete[](p))

#endif
