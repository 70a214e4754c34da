/* One word that says of something else that it is there, or done: who sees the word sees that as well.  For the word itself
 * any type of base/atomic.h will do. */
#ifndef FI_BASE_INIT_FLAG_H
#define FI_BASE_INIT_FLAG_H

#include "base/atomic.h"

/* [any] It is there.  -> init_flag.get: all that was done before */
#define fi_init_set(p, v) fi_store_release((p), (v), init_flag.set)

/* [any] The same, if the word is *none; true: it was, and not another's word.  -> init_flag.get */
#define fi_init_set_first(p, none, v) fi_cas_release((p), (none), (v), init_flag.set_first)

/* [any] The word.  <- init_flag.set, init_flag.set_first */
#define fi_init_get(p) fi_load_acquire((p), init_flag.get)

#endif
