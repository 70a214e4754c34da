/* Signals that the kernel sends to a thread that writes a file: SIGPIPE (no reader) and SIGXFSZ
 * (RLIMIT_FSIZE).
 *
 * By default both end the program.  The library must not end its host because a file cannot be
 * written, and the signals' dispositions belong to the host.  So the thread blocks them while it
 * writes, gets EPIPE or EFBIG instead, and then discards its own pending signals. */
#ifndef FI_OBSERVE_FILE_SIGNALS_H
#define FI_OBSERVE_FILE_SIGNALS_H

#include <signal.h>

typedef struct fi_file_signals {
    sigset_t mask;    /* of the thread, before */
    sigset_t pending; /* before: signals of the host, which stay pending */
} fi_file_signals;

/* [any] Not nested. */
void fi_file_signals_block(fi_file_signals *s);
void fi_file_signals_unblock(const fi_file_signals *s);

#endif
