/* What all objects of <filch/sync.h> have in common.  Each has the layout of a private struct: a
 * biased lock, one or two wait queues, then the state that the lock guards. */
#ifndef FI_SYNC_OBJECT_H
#define FI_SYNC_OBJECT_H

#include "wait/wake_list.h"

#include <filch/sync.h>

#include <errno.h>
#include <stddef.h>

_Static_assert(sizeof(filch_lock_) == sizeof(fi_biased_lock), "one layout");
_Static_assert(_Alignof(filch_lock_) == _Alignof(fi_biased_lock), "one layout");
_Static_assert(sizeof(fi_waitq) == sizeof(void *), "one layout");

#endif
