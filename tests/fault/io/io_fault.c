/* Calls on files, sockets, processes and signals without memory return -ENOMEM, or succeed in
 * another way. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"

#include "fault/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <filch/filch.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int none_or_no_memory(int64_t result, int64_t right)
{
    return result == right ? 0 : result == -ENOMEM ? -ENOMEM : -EPROTO;
}

/* A call may transfer a part.  Returns the number of bytes that were read, or an error. */
static ssize_t pread_all(int fd, char *buf, size_t n)
{
    size_t done = 0;

    while (done < n) {
        ssize_t m = filch_pread(fd, buf + done, n - done, (off_t)done);
        if (m <= 0)
            return m < 0 ? m : (ssize_t)done;
        done += (size_t)m;
    }
    return (ssize_t)done;
}

static int use_file(int fd)
{
    char buf[5000];
    struct stat st;
    int e = none_or_no_memory(filch_pwrite(fd, "x", 1, sizeof buf - 1), 1);

    if (e == 0)
        e = none_or_no_memory(filch_fsync(fd), 0);
    if (e == 0)
        e = none_or_no_memory(filch_fstat(fd, &st), 0);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    return e == 0 ? none_or_no_memory(pread_all(fd, buf, sizeof buf), sizeof buf) : e;
}

static int use_files(void)
{
    char path[] = "/tmp/filch-fault-XXXXXX";
    int made = mkstemp(path), fd, e;

    fd = made < 0 ? -EPROTO : filch_open(path, O_RDWR, 0);
    e = fd < 0 ? none_or_no_memory(fd, 0) : use_file(fd);
    if (fd >= 0)
        filch_close(fd);
    close(made);
    unlink(path);
    return e;
}

static int use_lookup(void)
{
    struct addrinfo *list = NULL;
    int e = none_or_no_memory(filch_getaddrinfo("localhost", NULL, NULL, &list), 0);

    if (list)
        freeaddrinfo(list);
    return e;
}

static int use_udp(void)
{
    int fd = filch_udp_bind("127.0.0.1", 0, FILCH_REUSEPORT), e;
    char c;

    if (fd < 0)
        return none_or_no_memory(fd, 0);
    e = none_or_no_memory(filch_recv_until(fd, &c, 1, 0, filch_now() + FILCH_US(100)), -ETIMEDOUT);
    filch_close(fd);
    return e;
}

/* After an error the child is waited for by another call. */
static int use_process(void)
{
    pid_t pid = fork();
    int e;

    if (pid == 0)
        for (;;)
            pause();
    e = none_or_no_memory(filch_waitpid_until(pid, NULL, 0, filch_now() + FILCH_US(100)),
                          -ETIMEDOUT);
    kill(pid, SIGKILL);
    if (e == 0)
        e = none_or_no_memory(filch_waitpid(pid, NULL, 0), pid);
    if (e < 0)
        waitpid(pid, NULL, 0);
    return e;
}

static int use_signal(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    return none_or_no_memory(filch_signal_wait(&set, filch_now() + FILCH_US(100)), -ETIMEDOUT);
}

static void *use(void *call)
{
    return (void *)(intptr_t)(*(int (**)(void))call)();
}

static int run(void *call)
{
    filch_config c = {.workers = 1};
    filch_fiber *f;
    void *result = NULL;
    int e = filch_start(&c);

    if (e < 0)
        return e;
    f = filch_fiber_start(use, call);
    e = !f ? -ENOMEM : filch_fiber_join(f, &result);
    filch_stop();
    return e < 0 ? e : (int)(intptr_t)result;
}

static void calls_fail_cleanly(void **state)
{
    static int (*const calls[])(void) = {use_files, use_lookup, use_udp, use_process, use_signal};
    sigset_t set;

    (void)state;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        int (*call)(void) = calls[i];
        CHECK(inject_every(run, &call) > 5);
    }
}

CHECK_MAIN(calls_fail_cleanly)
