/* A list of all fibers and what they wait for.
 *
 *     #include <filch/debug.h>
 *     #include <filch/fiber.h>
 *     #include <unistd.h>
 *
 *     static int main_fiber(int argc, char **argv)
 *     {
 *         (void)argc, (void)argv;
 *         return filch_dump(STDOUT_FILENO) < 0;
 *     }
 *
 *     int main(int argc, char **argv)
 *     {
 *         return filch_main(main_fiber, argc, argv);
 *     }
 *
 * The runtime writes the same list to stderr at the signal filch_config.dump_signal, and when the
 * deadlock detector (filch_config.deadlock) finds that nothing can wake the waiting fibers.
 */
#ifndef FILCH_DEBUG_H
#define FILCH_DEBUG_H

#include <filch/version.h>

FILCH_BEGIN_DECLS

/* Write a paragraph for each fiber to fd: its name, what it waits for and for how long, and its
 * backtrace.  Fibers that differ only in the object they wait for share a paragraph.  The format is
 * for people and may change in any version.
 * Call from: any thread or fiber, not a signal handler.  Blocks: the thread, until the text is
 *     written.
 * Returns: 0: the text was written.
 *     -ESRCH: the runtime is not running.
 *     -ENOMEM: there is no memory.
 *     Other errors are those of write(2). */
FILCH_API int filch_dump(int fd);

FILCH_END_DECLS

#endif
