/* What this machine lets the process use.
 *
 *     #include <filch/machine.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         printf("%u CPUs for us\n", filch_cpu_count());
 *         return 0;
 *     }
 */
#ifndef FILCH_MACHINE_H
#define FILCH_MACHINE_H

#include <filch/version.h>

FILCH_BEGIN_DECLS

/* How many CPUs this process may really use: those in the affinity mask of its main thread, or fewer
 * where a CPU quota on its cgroup, or on any cgroup above that (v1 and v2), allows less.  A quota is
 * rounded up to whole CPUs.  The files are read anew each time.
 * The main thread's mask, because it is the one that the process was started with, and because a
 * thread that is pinned to one CPU must not take that for all there is.  A mask that cannot be read
 * counts as one CPU; a quota that cannot be read does not limit.
 * Call from: any thread.
 * Blocks: the thread, while it reads a few files in /proc and /sys.
 * Returns: 1 or more. */
FILCH_API unsigned filch_cpu_count(void);

FILCH_END_DECLS

#endif
