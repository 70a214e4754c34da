/* The whole API of Filch.  The format of <filch/samples.h> is separate.
 *
 *     #include <filch/filch.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         printf("filch %s\n", filch_version());
 *         return 0;
 *     }
 */
#ifndef FILCH_FILCH_H
#define FILCH_FILCH_H

#include <filch/algo.h>
#include <filch/chan.h>
#include <filch/debug.h>
#include <filch/deque.h>
#include <filch/fiber.h>
#include <filch/io.h>
#include <filch/job.h>
#include <filch/memory.h>
#include <filch/message.h>
#include <filch/runtime.h>
#include <filch/stats.h>
#include <filch/strand.h>
#include <filch/sync.h>
#include <filch/task.h>
#include <filch/time.h>
#include <filch/version.h>

#endif
