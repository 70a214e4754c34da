/* What the tests of the transport share.  A test is one program, run by all ranks. */
#ifndef TRANSPORT_HELPERS_H
#define TRANSPORT_HELPERS_H

#include "transport/transport.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

enum { MAX_RANKS = 8 };

static const int64_t second_ns = 1000000000, ms_ns = 1000000;

static const fi_transport *net;
static fi_transport_config config;
static fi_place here;

__attribute__((noreturn)) static inline void check_failed(const char *file, int line,
                                                          const char *condition)
{
    fprintf(stderr, "%s:%d: rank %u: not true: %s\n", file, line, here.rank, condition);
    if (!net)
        _exit(1);
    net->stop(1);
}

static inline int64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * second_ns + now.tv_nsec;
}

static inline void place_check(void)
{
    bool found = false;

    CHECK(here.rank < here.ranks && here.ranks <= MAX_RANKS);
    CHECK(config.launched_ranks == 0 || here.ranks == config.launched_ranks);
    CHECK(here.n_near >= 1 && here.n_near <= here.ranks);
    for (unsigned i = 0; i < here.n_near; i++) {
        CHECK(i == 0 || here.near[i - 1] < here.near[i]);
        CHECK(kill(here.pids[i], 0) == 0);
        found |= here.near[i] == here.rank && here.pids[i] == getpid();
    }
    CHECK(found);
}

static inline void transport_open(void)
{
    const char *why = "no reason";
    int e = net->open(&config, &here, &why);

    if (e < 0)
        fprintf(stderr, "open: %s: %s\n", strerror(-e), why);
    CHECK(e == 0);
    place_check();
}

/* The process exists and SIGSTOP has stopped it. */
static inline bool process_is_stopped(pid_t pid)
{
    char path[64], text[512] = "";
    const char *end;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "r");
    CHECK(f);
    CHECK(fgets(text, sizeof text, f));
    fclose(f);
    end = strrchr(text, ')');
    return end && (end[2] == 'T' || end[2] == 't');
}

static int64_t wait_ns;

/* A lost wake-up is a hang, and fails by the time limit of the test.  Ranks on other nodes do not
 * ring. */
static inline void wait_ns_set(void)
{
    wait_ns = here.n_near == here.ranks ? 3600 * second_ns : ms_ns;
}

static inline fi_packet *packet_make(fi_kind kind, uint64_t a, size_t size)
{
    fi_packet *p = fi_packet_new(size);

    CHECK(p);
    p->head.kind = (uint16_t)kind;
    p->head.from = here.rank;
    p->head.a = a;
    return p;
}

static inline fi_packet *poll_checked(void)
{
    int error = 0;
    fi_packet *p = net->poll(&error);

    CHECK(error == 0);
    return p;
}

/* Keeps the packet for later if too many sends are open. */
static inline bool packet_try_send(unsigned to, fi_packet **p)
{
    int e = net->send(to, *p);

    CHECK(e == 0 || e == -EAGAIN);
    if (e == 0)
        *p = NULL;
    return e == 0;
}

#endif
