/* Signal handler that reports stack overflows, and fibers whose code was unmapped, before the
 * process dies.
 *
 * The handler runs on an alternate signal stack.  It recognises a fault in the guard of the
 * thread's current stack and prints one line with the fiber's name.  Then it passes the fault, like
 * every other one, to the previous handler.  If that is a function, it is called; if it recovers,
 * the next overflow is reported too.  Otherwise the fault happens again under the old disposition,
 * so that the process dies as without this handler and the core file shows the faulting code.
 *
 * Signal dispositions belong to the process, so this is the only global state in src/stack.
 *
 *     fi_overflow_handler_install();     counted, so several parties may
 *     fi_overflow_handler w = {0};
 *     fi_overflow_handler_enter(&w);     in each thread that runs fibers
 *     w.current = &bounds;               at each switch of stacks (NULL: its own)
 *     fi_overflow_handler_leave(&w);     in the same thread; then enter again in any thread
 *     fi_overflow_handler_fini(&w);
 *     fi_overflow_handler_remove();
 */
#ifndef FI_STACK_OVERFLOW_H
#define FI_STACK_OVERFLOW_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* A stack and the name of its fiber.  Must stay valid while it is current. */
typedef struct fi_stack_bounds {
    const char *low;
    size_t size;
    size_t guard_size;
    const char *name; /* may be NULL */
} fi_stack_bounds;

/* The part of the handler that belongs to one thread. */
typedef struct fi_overflow_handler {
    const fi_stack_bounds *volatile current;
    stack_t previous; /* the thread's previous alternate stack */
    void *alternate;  /* kept from one thread to the next */
    size_t alternate_size;
    bool is_entered;
} fi_overflow_handler;

/* [any] Install the handler for SIGSEGV and SIGBUS.  A handler that the program has installed over
 * it stays, and this one sees only the faults that it passes on.  Returns: 0; -errno. */
int fi_overflow_handler_install(void);

/* [any] The last call restores the previous handler, unless the program has installed another one
 * over this.  Then this one stays and passes every fault on. */
void fi_overflow_handler_remove(void);

/* [owner] Give the calling thread an alternate signal stack and report overflows of its current
 * stack from now on.  Returns: 0; -errno. */
int fi_overflow_handler_enter(fi_overflow_handler *w);

/* [owner] Restore the thread.  w may then be used by another thread. */
void fi_overflow_handler_leave(fi_overflow_handler *w);

/* [owner; any thread after leave] Leave, and free the memory. */
void fi_overflow_handler_fini(fi_overflow_handler *w);

/* [any, signal handlers too] Write the line about an overflow to stderr.  name may be NULL. */
void fi_stack_report_overflow(const char *name, size_t size);

#endif
