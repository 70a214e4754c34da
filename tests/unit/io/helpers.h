/* Helpers of the tests of files and sockets. */
#ifndef TESTS_UNIT_IO_HELPERS_H
#define TESTS_UNIT_IO_HELPERS_H

#include "unit/task/helpers.h"

#include "io/io.h"
#include "sched/runtime.h"

#include <filch/debug.h>
#include <filch/fiber.h>
#include <filch/io.h>
#include <filch/time.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

/* Run body(arg) on a fiber and return its result. */
static inline void *on_fiber(void *(*body)(void *), void *arg)
{
    filch_fiber *f = filch_fiber_start(body, arg);
    void *result = NULL;

    CHECK(f != NULL);
    CHECK_INT(filch_fiber_join(f, &result), 0);
    return result;
}

static inline void *in_thread(void *(*body)(void *), void *arg)
{
    pthread_t t;
    void *result = NULL;

    CHECK_INT(pthread_create(&t, NULL, body, arg), 0);
    pthread_join(t, &result);
    return result;
}

/* What the running runtime knows of a descriptor. */
static inline fi_fd *fd_state(int fd)
{
    fi_runtime *rt = fi_runtime_lock_running();
    fi_fd *state = NULL;
    fi_io *io;

    fi_runtime_unlock_running();
    CHECK_INT(fi_io_get(rt, &io), 0);
    CHECK_INT(fi_fd_table_get(&io->fd_table, fd, &state), 0);
    return state;
}

static inline int count_waiters(const fi_waitq *line)
{
    const fi_waiter *w = line->first;
    int n = 0;

    if (w)
        do
            n++, w = w->next;
        while (w != line->first);
    return n;
}

/* [thread or fiber] Wait until n fibers wait for this descriptor. */
static inline void await_waiting(int fd, int direction, int n)
{
    bool waits = false;

    while (!waits) {
        fi_runtime *rt = fi_runtime_lock_running();
        fi_io *io = rt ? fi_io_find(rt) : NULL;
        fi_fd *f = io ? fi_fd_table_find(&io->fd_table, fd) : NULL;

        if (f) {
            fi_fd_lock(f);
            waits = count_waiters(&f->waiters[direction]) >= n;
            fi_fd_unlock(f);
        }
        fi_runtime_unlock_running();
        if (!waits)
            filch_yield();
    }
}

/* [thread or fiber] Wait until filch_dump shows this text. */
static inline void await_dump(const char *text)
{
    static char bytes[1 << 16];
    bool found = false;

    while (!found) {
        FILE *f = tmpfile();
        size_t n;

        CHECK(f != NULL);
        CHECK_INT(filch_dump(fileno(f)), 0);
        rewind(f);
        n = fread(bytes, 1, sizeof bytes - 1, f);
        bytes[n] = '\0';
        found = strstr(bytes, text) != NULL;
        fclose(f);
        if (!found)
            filch_yield();
    }
}

/* test_NAME runs NAME with 1, 2, 4 and 8 workers. */
#define WITH_WORKERS(name)                                                                         \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        workers_each(NULL, name);                                                                  \
    }

#endif
