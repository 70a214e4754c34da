/* fi_epoll alone: edges, generations, interrupts. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2 */
#endif
#include "check.h"

#include "base/clock.h"
#include "base/futex.h"
#include "io/epoll.h"
#include "sched/poller.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define FOREVER FI_FUTEX_FOREVER
#define READS   (1u << FI_IO_READ)
#define WRITES  (1u << FI_IO_WRITE)

static fi_epoll epoll;
static fi_io_event events[FI_IO_EVENTS];
static int fd[2];

static void epoll_begin(void **state)
{
    (void)state;
    CHECK_INT(fi_epoll_init(&epoll), 0);
    CHECK_INT(pipe2(fd, O_NONBLOCK), 0);
}

static void epoll_end(void)
{
    close(fd[0]);
    close(fd[1]);
    fi_epoll_fini(&epoll);
}

static void edge_reported_once(void **state)
{
    epoll_begin(state);
    CHECK_INT(fi_epoll_arm(&epoll, fd[0], 7, READS, false), 0);
    CHECK_INT(fi_epoll_wait(&epoll, events, FI_POLL_NOW), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(write(fd[1], "x", 1), 1);
        CHECK_INT(fi_epoll_wait(&epoll, events, FOREVER), 1);
        CHECK_INT(events[0].fd, fd[0]);
        CHECK_INT(events[0].generation, 7);
        CHECK(events[0].readable && !events[0].writable && !events[0].hup_or_urgent);
        CHECK_INT(fi_epoll_wait(&epoll, events, FI_POLL_NOW), 0);
    }
    close(fd[1]);
    CHECK_INT(fi_epoll_wait(&epoll, events, FOREVER), 1);
    CHECK(events[0].readable && events[0].hup_or_urgent);
    epoll_end();
}

/* A descriptor that is armed again is reported again, whether `known` is right or wrong. */
static void arm_again(void **state)
{
    epoll_begin(state);
    CHECK_INT(write(fd[1], "x", 1), 1);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_INT(fi_epoll_arm(&epoll, fd[0], i, READS, i % 2), 0);
        CHECK_INT(fi_epoll_wait(&epoll, events, FOREVER), 1);
        CHECK_INT(events[0].generation, i);
    }
    fi_epoll_disarm(&epoll, fd[0]);
    CHECK_INT(fi_epoll_arm(&epoll, fd[0], 4, READS, true), 0);
    CHECK_INT(fi_epoll_wait(&epoll, events, FOREVER), 1);
    CHECK_INT(fi_epoll_arm(&epoll, fd[1], 0, WRITES, false), 0);
    CHECK_INT(fi_epoll_wait(&epoll, events, FOREVER), 1);
    CHECK(events[0].writable && !events[0].readable);
    epoll_end();
}

static void arm_errors(void **state)
{
    int file = open("/proc/self/exe", O_RDONLY);

    epoll_begin(state);
    CHECK_INT(fi_epoll_arm(&epoll, file, 0, READS, false), -EPERM);
    CHECK_INT(fi_epoll_arm(&epoll, -1, 0, READS, false), -EBADF);
    CHECK_INT(fi_epoll_arm(&epoll, 1 << 20, 0, READS, true), -EBADF);
    close(file);
    epoll_end();
}

/* A poll without waiting leaves the interrupt to the thread that waits, which clears it. */
static void interrupts(void **state)
{
    int64_t soon;

    epoll_begin(state);
    fi_epoll_interrupt(&epoll);
    fi_epoll_interrupt(&epoll);
    CHECK_INT(fi_epoll_wait(&epoll, events, FI_POLL_NOW), 0);
    CHECK_INT(fi_epoll_wait(&epoll, events, FOREVER), 0);
    soon = fi_clock_now() + 2000000;
    CHECK_INT(fi_epoll_wait(&epoll, events, soon), 0);
    CHECK(fi_clock_now() >= soon);
    CHECK_INT(fi_epoll_wait(&epoll, events, soon), 0);
    epoll_end();
}

CHECK_MAIN(edge_reported_once, arm_again, arm_errors, interrupts)
