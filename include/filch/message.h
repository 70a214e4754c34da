/* Messages of Filch: warnings, errors and reports, one line each.  They go to stderr, or to a
 * handler of the program.
 *
 *     #include <filch/message.h>
 *     #include <stdio.h>
 *
 *     static void log_message(filch_level level, const char *text, void *ctx)
 *     {
 *         fprintf((FILE *)ctx, "my-server: [%d] %s\n", (int)level, text);
 *     }
 *
 *     int main(void)
 *     {
 *         filch_set_message_handler(log_message, stderr);
 *         return 0;
 *     }
 *
 * filch-errors(7) lists all messages, their causes and remedies.
 */
#ifndef FILCH_MESSAGE_H
#define FILCH_MESSAGE_H

#include <filch/version.h>

FILCH_BEGIN_DECLS

/* In the order of their severity. */
typedef enum filch_level {
    FILCH_LEVEL_INFO,    /* a report that was asked for: filch_config.stats, .dump_signal */
    FILCH_LEVEL_WARNING, /* the runtime continues with less than was asked for */
    FILCH_LEVEL_ERROR,   /* a call or the runtime fails, or fibers are deadlocked */
    FILCH_LEVEL_FATAL,   /* the program is aborted when the handler returns */
} filch_level;

/* A function that receives messages.  text is one line without a newline, and valid during the
 * call.  A report of several lines is several calls. */
typedef void filch_message_handler(filch_level level, const char *text, void *ctx);

/* Give all messages to handler, in place of stderr.
 * handler: NULL means stderr again, with the text "filch: " before each message.
 *     The handler may be called from any thread and fiber, also on a small stack, by several
 *     threads at once, and before filch_start.  It must return and must not call Filch.
 *     Calls of an earlier handler may still be in progress after its replacement.
 *     The report of a stack overflow is written to stderr, because it comes from a signal handler.
 * ctx: passed to handler.
 * Call from: any thread or fiber, not from the handler.  Blocks: nothing. */
FILCH_API void filch_set_message_handler(filch_message_handler *handler, void *ctx);

/* For libraries of Filch, such as filch-mpi: give one line to the handler, or to stderr. */
FILCH_API void filch_message_(filch_level level, const char *text);

FILCH_END_DECLS

#endif
