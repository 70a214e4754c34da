/* A word that publishes an initialised object: a thread that reads the word sees the object.  The
 * word may have any type of base/atomic.h. */
#ifndef FI_BASE_INIT_FLAG_H
#define FI_BASE_INIT_FLAG_H

#include "base/atomic.h"

/* [any] Publish.  -> init_flag.get: everything before */
#define fi_init_set(p, v) fi_store_release((p), (v), init_flag.set)

/* [any] Publish if the word is still *none.  False: another thread was first, and *none is its
 * word.
 * -> init_flag.get */
#define fi_init_set_first(p, none, v) fi_cas_release((p), (none), (v), init_flag.set_first)

/* [any] The word.  <- init_flag.set, init_flag.set_first */
#define fi_init_get(p) fi_load_acquire((p), init_flag.get)

#endif
