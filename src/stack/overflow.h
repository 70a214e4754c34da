/* Reports a stack overflow with one line that names the fiber before SIGSEGV, and a fiber whose
 * code was unmapped.
 *
 * A fault in the guard of the stack that a thread runs on is recognised by a signal handler, which
 * stands on a stack of its own.  It prints the line and then hands the fault, like every other one,
 * to whoever handled it before: a function is called, and when it recovers, the next overflow is
 * named too.  Where there was none, the fault happens again under the old disposition, so that the
 * process dies as it would have died and a core file shows the culprit.
 *
 * Signal dispositions belong to the process, so this is the one thing in this room that is global.
 *
 *     fi_overflow_handler_install();               once; counted, so that several may
 *     fi_overflow_handler w = {0};
 *     fi_overflow_handler_init(&w);                in each thread that runs on stacks of ours
 *     w.current = &mark;                      whenever it changes stacks (NULL: its own)
 *     fi_overflow_handler_leave(&w);               in the same thread; init again is fine, in any thread
 *     fi_overflow_handler_fini(&w);
 *     fi_overflow_handler_remove();
 */
#ifndef FI_STACK_OVERFLOW_H
#define FI_STACK_OVERFLOW_H

#include <signal.h>
#include <stddef.h>

/* A stack and who runs on it.  Must stay valid while it is current. */
typedef struct fi_stack_bounds {
    const char *low;
    size_t size;
    size_t guard_size;
    const char *name; /* may be NULL */
} fi_stack_bounds;

/* Of one thread. */
typedef struct fi_overflow_handler {
    const fi_stack_bounds *volatile current;
    stack_t before;  /* the thread's alternate stack until now */
    void *alternate; /* kept from one thread to the next */
    size_t alternate_size;
    int entered;
} fi_overflow_handler;

/* [any] Put the handler for SIGSEGV and SIGBUS in place; 0 or -errno.  A handler that somebody has
 * put over ours is left alone: there, only what it passes on is seen. */
int fi_overflow_handler_install(void);

/* [any] The last one to call this restores what was there before, unless somebody has put a handler
 * of his own over ours since: then ours stays, and passes everything on. */
void fi_overflow_handler_remove(void);

/* [owner] Give the calling thread an alternate signal stack and watch its current stack from now
 * on; 0 or -errno. */
int fi_overflow_handler_init(fi_overflow_handler *w);

/* [owner] The thread is as it was before; w may be given to another one. */
void fi_overflow_handler_leave(fi_overflow_handler *w);

/* [owner; any, if it was left] Leave, and free what there is. */
void fi_overflow_handler_fini(fi_overflow_handler *w);

#endif
