/* What of atomic.h is more than an instruction: fences that one side pays for both. */
#include "base/atomic.h"

#include "base/fatal.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#if FI_UNDER_TSAN
_Atomic(int) fi_tsan_fence_word;
#endif

bool fi_fence_one_sided;

static long membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0);
}

/* ThreadSanitizer would not see the order that comes from the kernel. */
void fi_fence_setup(void)
{
    fi_fence_one_sided =
        !FI_UNDER_TSAN && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

__attribute__((constructor)) static void setup(void)
{
    fi_fence_setup();
}

/* Others rely on it already: their light fences are none.  There is no way back from that. */
void fi_fence_heavy_(void)
{
    if (!fi_fence_one_sided)
        fi_fence_seq_cst_();
    else if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0)
        fi_fatal("membarrier(2) was there when the program began, and is refused now");
}
