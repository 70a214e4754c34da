/* Every allocation of a runtime and of a function that uses it fails once, each in a child process:
 * a runtime without memory for a single fiber aborts.
 *
 *     static int use(void);   // returns 0 or -ENOMEM
 *
 *     CHECK(fault_rounds(use, (fault_round){.workers = 2}) > 10);
 */
#ifndef TESTS_FAULT_ROUNDS_H
#define TESTS_FAULT_ROUNDS_H

#include "check.h"
#include "child.h"
#include "fault/inject.h"

#include <errno.h>
#include <filch/filch.h>
#include <stdbool.h>

typedef struct fault_round {
    int (*use)(void);
    unsigned fail_at, workers;
    bool and_after; /* all later allocations fail, too; then the function runs on a thread only */
} fault_round;

enum { FAULT_RIGHT = 0, FAULT_NOT_REACHED = 10, FAULT_WRONG = 20 };
enum { FAULT_ROUNDS_MAX = 300 };

FILCH_TASK(int, fault_use_inside, const fault_round *, r)
{
    return r->use();
}

static inline bool fault_is_allowed(int e)
{
    return e == 0 || e == -ENOMEM;
}

static inline void fault_run_child(void *arg)
{
    const fault_round *r = arg;
    filch_config c = {.workers = r->workers};
    int outside = 0, inside = 0;

    alarm(600);
    inject_start(r->fail_at, r->and_after);
    if (filch_start(&c) == 0) {
        outside = r->use();
        if (!r->and_after)
            inside = FILCH_RUN(fault_use_inside, r);
        filch_stop();
    }
    if (!fault_is_allowed(outside) || !fault_is_allowed(inside))
        _exit(FAULT_WRONG);
    _exit(inject_stop() ? FAULT_RIGHT : FAULT_NOT_REACHED);
}

static inline int fault_result_of(fault_round r)
{
    struct child_end end;
    int code;

    CHECK_INT(child_end_of(&end, fault_run_child, &r), 0);
    if (WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT &&
        strncmp(end.text, "filch: no memory for ", 21) == 0)
        return FAULT_RIGHT;
    code = WIFEXITED(end.status) ? WEXITSTATUS(end.status) : FAULT_WRONG;
    if (code != FAULT_RIGHT && code != FAULT_NOT_REACHED)
        fprintf(stderr, "allocation %u of %u workers: status %x, %s\n", r.fail_at, r.workers,
                (unsigned)end.status, end.text);
    return code;
}

/* Returns the number of allocations that failed, one at a time.  The last round does not reach the
 * failure. */
static inline unsigned fault_rounds(int (*use)(void), fault_round r)
{
    int end = FAULT_RIGHT;

    r.use = use;
    for (r.fail_at = 0; end == FAULT_RIGHT && r.fail_at < FAULT_ROUNDS_MAX;) {
        r.fail_at++;
        end = fault_result_of(r);
    }
    CHECK_INT(end, FAULT_NOT_REACHED);
    return r.fail_at - 1;
}

#endif
