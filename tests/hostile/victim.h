/* Common to all victims: checks of results, and an exit with a message when a call fails.
 *
 * Exit code 0: all results are right.  1: a result is wrong.  3: a call failed; a line on stderr
 * names it. */
#ifndef HOSTILE_VICTIM_H
#define HOSTILE_VICTIM_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { RIGHT = 0, WRONG = 1, REFUSED = 3 };

/* _exit, because this may run on a fiber while other threads run. */
static inline _Noreturn void victim_end(int code, const char *file, int line, const char *what,
                                        long long value)
{
    char text[256];
    const char *why = code == REFUSED ? strerror((int)-value) : "wrong answer";
    int n =
        snprintf(text, sizeof text, "victim: %s:%d: %s: %s (%lld)\n", file, line, what, why, value);

    if (n > (int)sizeof text - 1)
        n = (int)sizeof text - 1;
    (void)!write(STDERR_FILENO, text, (size_t)n);
    _exit(code);
}

static inline long long victim_need(long long value, const char *file, int line, const char *what)
{
    if (value < 0)
        victim_end(REFUSED, file, line, what, value);
    return value;
}

/* The result of a call that may fail; exits if it does. */
#define NEED(call) victim_need((long long)(call), __FILE_NAME__, __LINE__, #call)
/* The same for a pointer, which is NULL without memory. */
#define NEED_PTR(p) ((p) ? (void)0 : victim_end(REFUSED, __FILE_NAME__, __LINE__, #p, -12))
/* A condition that must hold; exits with "wrong answer" if it does not. */
#define MUST(condition)                                                                            \
    ((condition) ? (void)0 : victim_end(WRONG, __FILE_NAME__, __LINE__, #condition, 0))

#ifndef __FILE_NAME__
#define __FILE_NAME__ "victim"
#endif

#endif
