/* Detects the end of a thread that must not end.
 *
 * User code runs on the runtime's threads, and on threads that were lent to it.  pthread_exit in
 * such code would end the worker, and waiters for its work would never wake. */
#ifndef FI_BASE_EXIT_GUARD_H
#define FI_BASE_EXIT_GUARD_H

/* [any] Call this first. */
void fi_exit_guard_init(void);

/* [thread] Call ended() when the calling thread ends for any reason, after its stack was unwound.
 * NULL: do not call it any more. */
void fi_exit_guard_set(void (*ended)(void));

#endif
