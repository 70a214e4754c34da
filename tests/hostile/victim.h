/* Common to all victims: checks of answers, and a clear exit when the system refuses something.
 *
 * Exit code 0: all answers are right.  1: an answer is wrong.  3: a call failed, and one line on stderr says which. */
#ifndef HOSTILE_VICTIM_H
#define HOSTILE_VICTIM_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { RIGHT = 0, WRONG = 1, REFUSED = 3 };

/* _exit, as this may be a fiber, and others are in the middle of something. */
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

/* A call that may be refused: its result, if it is not an error. */
#define NEED(call) victim_need((long long)(call), __FILE_NAME__, __LINE__, #call)
/* A call that returns a pointer, NULL without memory. */
#define NEED_PTR(p) ((p) ? (void)0 : victim_end(REFUSED, __FILE_NAME__, __LINE__, #p, -12))
/* What must be so. */
#define MUST(condition)                                                                            \
    ((condition) ? (void)0 : victim_end(WRONG, __FILE_NAME__, __LINE__, #condition, 0))

#ifndef __FILE_NAME__
#define __FILE_NAME__ "victim"
#endif

#endif
