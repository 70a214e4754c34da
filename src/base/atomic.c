/* Asymmetric fences by membarrier(2). */
#include "base/atomic.h"

#include "base/fatal.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
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

/* ThreadSanitizer does not see the order that the kernel makes. */
void fi_fence_setup(void)
{
    fi_fence_one_sided =
        !FI_UNDER_TSAN && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

__attribute__((constructor)) static void setup(void)
{
    fi_fence_setup();
}

/* If membarrier(2) fails after the setup, the light fences that have run were not fences.  There is
 * no recovery from that. */
void fi_fence_heavy_(void)
{
    if (!fi_fence_one_sided)
        fi_fence_seq_cst_();
    else if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0)
        fi_fatal("membarrier(2): refused now (%s), but allowed when the program started; do not "
                 "install a seccomp filter that forbids it",
                 strerror(errno));
}
