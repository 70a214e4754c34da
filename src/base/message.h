/* Messages to the user: to stderr, or to the handler of filch_set_message_handler.  filch-errors(7)
 * lists the format of each. */
#ifndef FI_BASE_MESSAGE_H
#define FI_BASE_MESSAGE_H

#include <filch/message.h>

#include <stdarg.h>
#include <stddef.h>

/* [any, not a signal handler] Give one line to the user.  The format has neither "filch: " nor a
 * newline.  A line longer than about 1000 bytes is cut.  Control characters in its arguments are
 * replaced.  errno stays as it is. */
void fi_message(filch_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fi_message_va(filch_level level, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* [any, not a signal handler] Report a wrong argument or setting.  Returns -EINVAL. */
int fi_message_invalid(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/* [any, not a signal handler] Report an argument that is NULL.  wanted: what to pass instead, such
 * as "a function".  Returns -EINVAL. */
int fi_message_null(const char *function, const char *argument, const char *wanted)
    __attribute__((cold));

/* [any, not a signal handler] Give n bytes of several lines to the user: with one write(2), or line
 * by line to the handler, for which newlines are replaced.  Each line ends with a newline. */
void fi_message_lines(filch_level level, char *text, size_t n);

#endif
