/* Every allocation of a runtime fails once.  A start that fails returns an error and frees all
 * memory.  A runtime that has started gives right results or aborts with one message. */
#include "check.h"
#include "child.h"
#include "fib.h"
#include "lab_settings.h"

#include "fault/inject.h"

#include <errno.h>
#include <filch/filch.h>
#include <stdbool.h>

static int start_and_stop(void *config)
{
    int e = filch_start(config);

    if (e < 0)
        return filch_worker_count() == 0 ? e : -EPROTO;
    return filch_stop();
}

static void starts_fail_cleanly(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 4; n *= 2)
        for (size_t i = 0; i < LAB_DEQUES; i++) {
            filch_config c = {.workers = n};

            set_lab_settings((lab_settings){.deque = lab_deques[i]});
            /* The runtime, its workers, a deque and a ring for each, the strides. */
            CHECK(inject_every(start_and_stop, &c) >= 3 + 2 * n);
        }
    set_lab_settings((lab_settings){0});
}

static void pinned_starts_fail_cleanly(void **state)
{
    filch_config c = {.workers = 2, .affinity = FILCH_AFFINITY_CPU};

    (void)state;
    CHECK(inject_every(start_and_stop, &c) >= 3 + 2 * 2);
}

/* ---- while the runtime runs ---- */

typedef struct round {
    unsigned fail_at;
    bool and_after;
    filch_config config;
} round_;

enum { RIGHT = 0, NOT_REACHED = 10, WRONG = 20, NO_START = 30 };

/* One run in a child process, which may abort with a message. */
static void run_with_failure(void *arg)
{
    const round_ *r = arg;
    int code = RIGHT;

    alarm(600);
    inject_start(r->fail_at, r->and_after);
    if (filch_start(&r->config) < 0)
        _exit(inject_stop() ? NO_START : WRONG);
    for (int i = 0; i < 3; i++)
        if (FILCH_RUN(fib, 15) != 610)
            code = WRONG;
    if (filch_stop() != 0)
        code = WRONG;
    if (!inject_stop() && code == RIGHT)
        code = NOT_REACHED;
    _exit(code);
}

static bool printed_one_line(const struct child_end *end)
{
    return WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGABRT &&
           strncmp(end->text, "filch: ", 7) == 0 &&
           strchr(end->text, '\n') == end->text + strlen(end->text) - 1;
}

/* Returns true if the run makes fewer allocations than fail_at. */
static bool one_round(round_ *r)
{
    struct child_end end;
    int code;

    CHECK_INT(child_end_of(&end, run_with_failure, r), 0);
    if (printed_one_line(&end))
        return false;
    if (!WIFEXITED(end.status) || WEXITSTATUS(end.status) == WRONG || end.text[0] != '\0')
        fprintf(stderr, "allocation %u%s fails: status %#x, said: %s\n", r->fail_at,
                r->and_after ? " and all after it" : "", (unsigned)end.status, end.text);
    CHECK(WIFEXITED(end.status));
    code = WEXITSTATUS(end.status);
    CHECK(code == RIGHT || code == NO_START || code == NOT_REACHED);
    return code == NOT_REACHED;
}

static void runs_with(unsigned workers, const char *publish, bool and_after)
{
    round_ r = {.config = {.workers = workers}, .and_after = and_after, .fail_at = 1};

    set_lab_settings((lab_settings){.publish = publish});
    while (!one_round(&r))
        r.fail_at++;
    CHECK(r.fail_at > 4 + 2 * workers); /* some of them were made while tasks ran */
}

static void all_runs(bool and_after)
{
    for (unsigned n = 1; n <= 4; n *= 2) {
        runs_with(n, "lazy", and_after);
        runs_with(n, "eager", and_after);
    }
}

static void runs_survive_one_failure(void **state)
{
    (void)state;
    all_runs(false);
}

/* All later allocations fail as well: a run must abort with a message, not wait for ever. */
static void runs_without_memory_abort_with_a_message(void **state)
{
    (void)state;
    all_runs(true);
}

CHECK_MAIN(starts_fail_cleanly, pinned_starts_fail_cleanly, runs_survive_one_failure,
           runs_without_memory_abort_with_a_message)
