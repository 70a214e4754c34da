/* What the fibers do: for people who wonder why nothing happens.
 *
 *     #include <filch/debug.h>
 *     #include <filch/fiber.h>
 *     #include <unistd.h>
 *
 *     static void main_fiber(void *arg)
 *     {
 *         (void)arg;
 *         filch_dump(STDOUT_FILENO);
 *     }
 *
 *     int main(void)
 *     {
 *         return filch_main(main_fiber, NULL);
 *     }
 *
 * The same list comes without a line of code: on a signal that filch_config.dump_signal names, and on stderr when all
 * fibers wait for what can never come (filch_config.deadlock).
 */
#ifndef FILCH_DEBUG_H
#define FILCH_DEBUG_H

#include <filch/version.h>

FILCH_BEGIN_DECLS

/* Write a paragraph for each fiber: its name, what it waits for, for how long, and where in the program it is.  Fibers
 * that differ in nothing but what they wait for share one.  The text is for people and changes from version to version.
 * Call from: any thread or fiber, not from a signal handler.  Blocks: the thread, until the text is written.
 * Returns: 0; -ESRCH while no runtime runs; -ENOMEM; what write(2) says. */
FILCH_API int filch_dump(int fd);

FILCH_END_DECLS

#endif
