/* Read the workers and fibers of another process for filch top.  Called by top.c. */
#define _GNU_SOURCE
#include "top_snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- time ---- */

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Field 22 of the file is the start, in ticks since the boot.  The name before may contain
 * anything. */
static int64_t process_up_ns(pid_t pid)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *in = fopen(path, "re");
    const char *rest = in && fgets(line, sizeof line, in) ? strrchr(line, ')') : NULL;
    if (in)
        fclose(in);
    for (int field = 2; rest && field < 22; field++)
        rest = strchr(rest + 1, ' ');
    int64_t ticks = rest ? strtoll(rest, NULL, 10) : 0;
    return clock_ns(CLOCK_BOOTTIME) - ticks * (INT64_C(1000000000) / sysconf(_SC_CLK_TCK));
}

/* ---- workers ---- */

static uint64_t deque_size(const remote *r, uint64_t deque)
{
    uint64_t ops = remote_u64(r, deque + r->at.deque_ops);
    uint32_t bottom_offset = 0, top_offset = 0, bottom = 0, top = 0;
    remote_read(r, ops + r->at.deque_ops_bottom, &bottom_offset, sizeof bottom_offset);
    remote_read(r, ops + r->at.deque_ops_top, &top_offset, sizeof top_offset);
    remote_read(r, deque + bottom_offset, &bottom, sizeof bottom);
    remote_read(r, deque + top_offset, &top, sizeof top);
    int32_t n =
        (int32_t)(bottom - top); /* the owner of an empty deque lowers bottom for a moment */
    return n > 0 ? (uint64_t)n : 0;
}

static void read_worker(const remote *r, unsigned i, top_worker *w)
{
    const remote_layout *at = &r->at;
    uint64_t fiber = remote_worker_u64(r, i, at->worker_current);
    uint32_t sleeper = remote_worker_u32(r, i, at->worker_sleeper);
    *w = (top_worker){
        .state = fiber                           ? TOP_BUSY
                 : sleeper == at->sleeper_asleep ? TOP_ASLEEP
                                                 : TOP_SEARCHING,
        .is_lent = sleeper == at->sleeper_lent,
        .deque = deque_size(r, remote_worker_u64(r, i, at->worker_deque)),
        .ready = remote_worker_u32(r, i, at->worker_ready),
        .inbox = remote_worker_u64(r, i, at->worker_inbox),
        .steals = remote_worker_u64(r, i, at->worker_steals_single) +
                  remote_worker_u64(r, i, at->worker_steals_multiple),
        .steals_failed = remote_worker_u64(r, i, at->worker_steals_failed),
        .parks = remote_worker_u64(r, i, at->worker_parks),
        .sleeps = remote_worker_u64(r, i, at->worker_sleeps),
        .ended = remote_worker_u64(r, i, at->worker_jobs_ended) +
                 remote_worker_u64(r, i, at->worker_starts_ended),
    };
    if (fiber)
        remote_fiber_name(r, fiber, w->runs);
}

bool top_read_workers(remote *r, top_snapshot *t)
{
    t->pid = r->pid;
    t->n_workers = r->n_workers;
    t->now_ns = clock_ns(CLOCK_MONOTONIC);
    if (!remote_read_workers(r))
        return false;
    for (unsigned i = 0; i < r->n_workers; i++)
        read_worker(r, i, &t->worker[i]);
    t->shared = remote_u64(r, r->runtime + r->at.runtime_global);
    t->high = remote_u64(r, r->runtime + r->at.runtime_high);
    t->low = remote_u64(r, r->runtime + r->at.runtime_low);
    return true;
}

/* ---- fibers ---- */

static void count_kind(top_snapshot *t, const char *what)
{
    for (int i = 0; i < TOP_KINDS; i++) {
        top_kind *k = &t->kind[i];
        if (k->fibers == 0)
            snprintf(k->what, sizeof k->what, "%s", what);
        if (strcmp(k->what, what) == 0) {
            k->fibers++;
            return;
        }
    }
    t->other_kinds++;
}

/* The rank of a wait among the longest ones; TOP_WAITS: it is shorter than all. */
static int wait_rank(const top_snapshot *t, int64_t for_ns)
{
    int i = TOP_WAITS;
    while (i > 0 && (t->wait[i - 1].fiber == 0 || t->wait[i - 1].for_ns < for_ns))
        i--;
    return i;
}

/* The clock of the process is coarse, and memory may have any content. */
static void insert_if_long(top_snapshot *t, const remote_fiber *f)
{
    int64_t for_ns = f->since_ns > 0 && f->since_ns < t->now_ns ? t->now_ns - f->since_ns : 0;
    int at = wait_rank(t, for_ns);
    top_wait *to = &t->wait[at];
    if (at == TOP_WAITS)
        return;
    memmove(to + 1, to, sizeof *to * (size_t)(TOP_WAITS - 1 - at));
    *to = (top_wait){.fiber = f->address, .object = f->object, .for_ns = for_ns};
    memcpy(to->what, f->kind, sizeof to->what);
    memcpy(to->name, f->name, sizeof to->name);
}

static void count_fiber(const remote_fiber *f, void *ctx)
{
    top_snapshot *t = ctx;
    if (f->worker >= 0) {
        t->running++;
    } else if (!f->waits || f->is_woken) {
        t->ready++;
    } else {
        t->waiting++;
        count_kind(t, f->kind);
        insert_if_long(t, f);
    }
}

bool top_read_all(remote *r, top_snapshot *t)
{
    memset(t, 0, sizeof *t);
    t->up_ns = process_up_ns(r->pid);
    return top_read_workers(r, t) && remote_foreach_fiber(r, count_fiber, t);
}
