/* Helpers for the tests of the watchdog: an event to wait for, a child process that is read
 * while it runs, a dump as text. */
#ifndef TESTS_UNIT_WATCHDOG_HELPERS_H
#define TESTS_UNIT_WATCHDOG_HELPERS_H

#include "unit/ctx/child.h"
#include "unit/task/helpers.h"

#include "sched/runtime.h"
#include "wait/waitq.h"

#include <stdatomic.h>
#include <time.h>

/* A door that is opened once, for all who wait. */
typedef struct place {
    fi_biased_lock lock;
    fi_waitq line;
    bool open;
} place;

static inline int place_wait_until(place *p, int64_t deadline)
{
    fi_waiter w = {0};
    int e = 0;

    fi_obj_lock(&p->lock);
    if (p->open)
        fi_obj_unlock(&p->lock);
    else
        e = fi_waitq_wait(&w, &p->line, &p->lock, (fi_wait_reason){"place", p}, deadline);
    return e;
}

static inline void place_wait(place *p)
{
    place_wait_until(p, FI_TIMER_NEVER);
}

/* The place may be gone as soon as the lock is let go. */
static inline void place_open(place *p)
{
    fi_waiter *w, *woken = NULL;

    fi_obj_lock(&p->lock);
    p->open = true;
    while ((w = fi_waitq_pop(&p->line)) != NULL) {
        w->next = woken;
        woken = w;
    }
    fi_obj_unlock(&p->lock);
    while ((w = woken) != NULL) {
        woken = w->next;
        w->result = 0;
        fi_waiter_wake(w);
    }
}

static inline void wait_at(void *p)
{
    place_wait(p);
}

static inline void *wait_at_with_handle(void *p)
{
    place_wait(p);
    return p;
}

/* What filch_dump writes; cut to fit. */
static inline const char *dumped(void)
{
    static char text[1 << 16];
    FILE *file = tmpfile();
    size_t n;

    CHECK(file != NULL);
    CHECK_INT(filch_dump(fileno(file)), 0);
    rewind(file);
    n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

static inline bool has(const char *text, const char *words)
{
    return strstr(text, words) != NULL;
}

static inline filch_counters counted(void)
{
    filch_stats s;

    CHECK_INT(filch_stats_get(&s), 0);
    return s.total;
}

static inline unsigned times(const char *text, const char *words)
{
    unsigned n = 0;

    for (const char *at = text; (at = strstr(at, words)) != NULL; at++)
        n++;
    return n;
}

/* Run it in a child that never ends by itself, until that has said these words; and once more, asked by a signal.
 * ThreadSanitizer keeps signals back while all threads sleep. */
static inline bool says_and_lives(void (*fn)(void *), void *arg, const char *words)
{
    static char text[1 << 16];
    const unsigned enough = FI_UNDER_TSAN ? 1 : 2;
    bool asked = false;
    int ends[2], status;
    size_t n = 0;
    ssize_t r;
    pid_t pid;

    fflush(NULL);
    CHECK_INT(pipe(ends), 0);
    pid = fork();
    if (pid == 0)
        child_run(ends[1], fn, arg);
    close(ends[1]);
    text[0] = '\0';
    while (times(text, words) < enough && (r = read(ends[0], text + n, sizeof text - 1 - n)) > 0) {
        n += (size_t)r;
        text[n] = '\0';
        if (!asked && has(text, words))
            asked = kill(pid, SIGUSR2) == 0;
    }
    kill(pid, SIGKILL);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    close(ends[0]);
    if (times(text, words) < enough)
        fprintf(stderr, "status %#x, said: %s\n", (unsigned)status, text);
    return times(text, words) >= enough && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

#endif
