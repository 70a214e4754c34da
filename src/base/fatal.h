/* The end of the program after a caller's mistake, or an error that the runtime cannot survive. */
#ifndef FI_BASE_FATAL_H
#define FI_BASE_FATAL_H

/* [any, not a signal handler] Send a message (base/message.h) of the level fatal, then abort. */
_Noreturn void fi_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
