#include "base/atomic.h"

#if FI_UNDER_TSAN
_Atomic(int) fi_fence_meeting_point;
#endif

/* ISO C wants a translation unit to declare something. */
typedef int fi_atomic_needs_no_code;
