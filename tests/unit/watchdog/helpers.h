/* Helpers for the tests of the watchdog: a one-shot event, a child process that is read while it
 * runs, a dump as text. */
#ifndef TESTS_UNIT_WATCHDOG_HELPERS_H
#define TESTS_UNIT_WATCHDOG_HELPERS_H

#include "child.h"
#include "unit/task/helpers.h"

#include "sched/runtime.h"
#include "wait/waitq.h"

#include <stdatomic.h>
#include <time.h>

/* A one-shot event with any number of waiters. */
typedef struct event {
    fi_biased_lock lock;
    fi_waitq waitq;
    bool set;
} event;

static inline int event_wait_until(event *p, int64_t deadline)
{
    fi_waiter w = {0};
    int e = 0;

    fi_obj_lock(&p->lock);
    if (p->set)
        fi_obj_unlock(&p->lock);
    else
        e = fi_waitq_wait(&w, &p->waitq, &p->lock, (fi_wait_reason){"event", p}, deadline);
    return e;
}

static inline void event_wait(event *p)
{
    event_wait_until(p, FI_TIMER_NEVER);
}

/* A waiter may free the event as soon as the lock is released. */
static inline void event_set(event *p)
{
    fi_waiter *w, *woken = NULL;

    fi_obj_lock(&p->lock);
    p->set = true;
    while ((w = fi_waitq_pop(&p->waitq)) != NULL) {
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

static inline void wait_for_event(void *p)
{
    event_wait(p);
}

static inline void *wait_and_return(void *p)
{
    event_wait(p);
    return p;
}

/* The output of filch_dump, truncated to the buffer. */
static inline const char *dump_text(void)
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

static inline bool contains(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static inline filch_counters total_counters(void)
{
    filch_stats s;

    CHECK_INT(filch_stats_get(&s), 0);
    return s.total;
}

static inline unsigned count_of(const char *text, const char *part)
{
    unsigned n = 0;

    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        n++;
    return n;
}

/* Run fn in a child process that does not end by itself, until its output contains the text; then
 * send the dump signal and wait until it contains the text twice.  ThreadSanitizer delays signals
 * while all threads sleep, so once is enough there. */
static inline bool prints_and_lives(void (*fn)(void *), void *arg, const char *part)
{
    static char text[1 << 16];
    const unsigned expected = FI_UNDER_TSAN ? 1 : 2;
    bool signalled = false;
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
    while (count_of(text, part) < expected &&
           (r = read(ends[0], text + n, sizeof text - 1 - n)) > 0) {
        n += (size_t)r;
        text[n] = '\0';
        if (!signalled && contains(text, part))
            signalled = kill(pid, SIGUSR2) == 0;
    }
    kill(pid, SIGKILL);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    close(ends[0]);
    if (count_of(text, part) < expected)
        fprintf(stderr, "status %#x, output: %s\n", (unsigned)status, text);
    return count_of(text, part) >= expected && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

#endif
