/* One word that says of something else that it is there, or done: who sees the word sees that as well.  For the word itself
 * any type of base/atomic.h will do. */
#ifndef FI_BASE_PUBLISH_H
#define FI_BASE_PUBLISH_H

#include "base/atomic.h"

/* [any] It is there.  -> publish.get: all that was done before */
#define fi_publish(p, v) fi_store_release((p), (v), publish.set)

/* [any] The same, if the word is *none; true: it was, and not another's word.  -> publish.get */
#define fi_publish_first(p, none, v) fi_cas_release((p), (none), (v), publish.first)

/* [any] The word.  <- publish.set, publish.first */
#define fi_published(p) fi_load_acquire((p), publish.get)

#endif
