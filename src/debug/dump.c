/* The list of all fibers.  First each fiber is frozen for a moment and a snapshot of it is taken.
 * Then snapshots that are alike are merged into groups and written, while the fibers run.
 *
 * Memory comes from mmap, because the program may have stopped inside its allocator. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* process_vm_readv */
#endif
#include "debug/dump.h"

#include "base/clock.h"
#include "base/printable.h"
#include "job/job.h"
#include "sched/runtime.h"
#include "wait/waitq.h"

#include <filch/debug.h>

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define FRAMES_MAX 24
#define PAGE       ((uintptr_t)4096)   /* or a multiple */
#define NUMBER_MAX (UINT32_C(1) << 22) /* max. number of a process; addresses are greater */

#define NAME_MAX_SHOWN 32

enum { RUNNING, WAITING, READY };

/* A fiber, or a group of fibers that are alike. */
typedef struct fiber_snapshot {
    const fi_fiber *fiber;
    char name[NAME_MAX_SHOWN];
    bool in_job; /* it runs a job */
    char job_name[NAME_MAX_SHOWN];
    uintptr_t body;
    unsigned state, worker, bound, n_frames; /* the workers: index plus 1 */
    const char *wait_kind;
    const void *at[FRAMES_MAX];
    /* The fields below may differ within a group. */
    const void *object;
    char object_name[NAME_MAX_SHOWN];
    int64_t since_ns;
    bool other_objects; /* the fibers of the group wait for different objects */
    uint32_t n;
    int64_t first_ns, last_ns;
} fiber_snapshot;

typedef struct fiber_list {
    fi_runtime *rt;
    fiber_snapshot *fibers;
    size_t n, capacity; /* n may exceed capacity: it counts all fibers */
} fiber_list;

/* ---- snapshots ---- */

/* Reads through the kernel, because the memory may be unmapped: the name of a fiber is valid only
 * until the fiber ends, which may happen meanwhile. */
static bool read_memory(void *to, const void *from, size_t n)
{
    struct iovec local = {to, n}, remote = {(void *)(uintptr_t)from, n};

    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)n;
}

/* Read a string up to its end or the end of readable memory. */
static void read_text(char *text, size_t size, const char *from)
{
    size_t n = 0;

    while (n + 1 < size) {
        size_t n_max = PAGE - (uintptr_t)(from + n) % PAGE;
        if (n_max > size - 1 - n)
            n_max = size - 1 - n;
        if (!read_memory(text + n, from + n, n_max))
            break;
        n += n_max;
        if (memchr(text, '\0', n))
            return;
    }
    text[n] = '\0';
}

/* Read the string to which *from points, or leave the text as it is. */
static void read_name(char *text, size_t size, const char *const *from)
{
    const char *at = NULL;

    if (read_memory(&at, from, sizeof at) && at)
        read_text(text, size, at);
    fi_make_printable(text);
}

void fi_dump_name(const fi_fiber *f, char *name, size_t size)
{
    snprintf(name, size, "?");
    read_name(name, size, &f->stack_bounds.name);
}

/* The job that the fiber runs.  A fiber that runs may end it meanwhile. */
static void snapshot_job(fiber_snapshot *s, const fi_fiber *f)
{
    uintptr_t scope = 0;
    const fi_job *j;

    if (s->body || !read_memory(&scope, &f->cancel.job, sizeof scope) || scope == 0)
        return;
    j = fi_job_of_group((fi_group *)scope); /* a group begins with its scope */
    if (!read_memory(&s->body, &j->work.run, sizeof s->body))
        return;
    s->in_job = true;
    read_name(s->job_name, sizeof s->job_name, &j->name);
}

/* A fiber that waits for a job waits for the job's own group. */
static void snapshot_wait(fiber_snapshot *s, const fi_waiter *wait)
{
    uint32_t pending = 0;
    fi_group *g;

    s->wait_kind = wait->reason.kind;
    s->object = wait->reason.object;
    s->since_ns = wait->since_ns;
    if (strcmp(s->wait_kind, "group") != 0)
        return;
    g = (fi_group *)(uintptr_t)s->object;
    if (!read_memory(&pending, (const void *)&g->pending, sizeof pending) ||
        !(pending & FI_PENDING_OF_JOB))
        return;
    s->wait_kind = "job";
    s->object = fi_job_of_group(g);
    read_name(s->object_name, sizeof s->object_name, &fi_job_of_group(g)->name);
}

static void take_snapshot(fiber_snapshot *s, fi_runtime *rt, fi_fiber *f)
{
    const fi_waiter *wait;
    const fi_worker *on = fi_fiber_freeze_in(rt, f, &wait);

    *s = (fiber_snapshot){.fiber = f, .n = 1, .state = on ? RUNNING : wait ? WAITING : READY};
    s->body = fi_load_relaxed(&f->body);
    s->bound = fi_load_relaxed(&f->bound);
    if (on)
        s->worker = on->index + 1;
    else
        s->n_frames = fi_backtrace(f, s->at, FRAMES_MAX);
    if (wait && !on)
        snapshot_wait(s, wait);
    snapshot_job(s, f);
    fi_dump_name(f, s->name, sizeof s->name);
    fi_fiber_thaw(f);
}

static void visit_fiber(fi_fiber *f, void *ctx)
{
    fiber_list *l = ctx;

    if (!fi_load_relaxed(&f->busy))
        return;
    if (l->n < l->capacity)
        take_snapshot(&l->fibers[l->n], l->rt, f);
    l->n++;
}

static size_t list_bytes(const fiber_list *l)
{
    return l->capacity * sizeof *l->fibers;
}

static int list_alloc(fiber_list *l, size_t capacity)
{
    void *at;

    l->capacity = capacity;
    l->n = 0;
    at = mmap(NULL, list_bytes(l), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    l->fibers = at;
    return at == MAP_FAILED ? -errno : 0;
}

/* Starts again with more capacity when there are more fibers. */
static int take_all_snapshots(fiber_list *l)
{
    size_t capacity = 64;
    int e;

    while ((e = list_alloc(l, capacity)) == 0) {
        fi_fiber_foreach(l->rt, visit_fiber, l);
        if (l->n <= l->capacity)
            return 0;
        munmap(l->fibers, list_bytes(l));
        capacity = 2 * l->n;
    }
    return e;
}

/* ---- groups ---- */

static bool are_alike(const fiber_snapshot *a, const fiber_snapshot *b)
{
    return a->body == b->body && a->state == b->state && a->worker == b->worker &&
           a->bound == b->bound && a->wait_kind == b->wait_kind && a->n_frames == b->n_frames &&
           strcmp(a->name, b->name) == 0 && a->in_job == b->in_job &&
           strcmp(a->job_name, b->job_name) == 0 &&
           memcmp(a->at, b->at, a->n_frames * sizeof *a->at) == 0;
}

static size_t snapshot_hash(const fiber_snapshot *s)
{
    uint64_t h = s->body ^ (uintptr_t)s->wait_kind ^ s->state ^ s->bound;

    for (unsigned i = 0; i < s->n_frames; i++)
        h = (h ^ (uintptr_t)s->at[i]) * UINT64_C(0x9e3779b97f4a7c15);
    for (const char *c = s->name; *c; c++)
        h = (h ^ (uint64_t)*c) * UINT64_C(0x9e3779b97f4a7c15);
    for (const char *c = s->job_name; *c; c++)
        h = (h ^ (uint64_t)*c) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 32);
}

static void group_add(fiber_snapshot *group, const fiber_snapshot *s)
{
    group->n++;
    group->other_objects |= group->object != s->object;
    if (s->since_ns < group->first_ns)
        group->first_ns = s->since_ns;
    if (s->since_ns > group->last_ns)
        group->last_ns = s->since_ns;
}

/* Keep the first of the fibers that are alike, with their number.  table: a zeroed hash table of
 * twice as many entries as fibers. */
static void list_merge_alike(fiber_list *l, uint32_t *table)
{
    size_t size = 2 * l->n, n_groups = 0;

    for (size_t i = 0; i < l->n; i++) {
        fiber_snapshot *s = &l->fibers[i];
        size_t at = snapshot_hash(s) % size;
        while (table[at] && !are_alike(&l->fibers[table[at] - 1], s))
            at = (at + 1) % size;
        if (table[at]) {
            group_add(&l->fibers[table[at] - 1], s);
            continue;
        }
        s->first_ns = s->last_ns = s->since_ns;
        l->fibers[n_groups++] = *s;
        table[at] = (uint32_t)n_groups;
    }
    l->n = n_groups;
}

static int list_make_groups(fiber_list *l)
{
    size_t bytes = 2 * l->n * sizeof(uint32_t);
    void *table;

    if (l->n == 0)
        return 0;
    table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED)
        return -errno;
    list_merge_alike(l, table);
    munmap(table, bytes);
    return 0;
}

/* ---- writing ---- */

/* A descriptor, or the messages of a level. */
typedef struct dump_output {
    int fd; /* -1: messages */
    filch_level level;
} dump_output;

static int write_all(int fd, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, text, n);
        if (done < 0 && errno != EINTR)
            return -errno;
        if (done > 0)
            text += done, n -= (size_t)done;
    }
    return 0;
}

/* The text of one group, written with one call. */
typedef struct text {
    char bytes[4096];
    size_t n;
} text;

__attribute__((format(printf, 2, 3))) static void text_append(text *t, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(t->bytes + t->n, sizeof t->bytes - t->n, format, args);
    va_end(args);
    t->n += (size_t)n < sizeof t->bytes - t->n ? (size_t)n : sizeof t->bytes - t->n - 1;
}

/* 0 if ns is later: the coarse clock may be ahead of now_ns. */
static long long ms_since(int64_t now_ns, int64_t ns)
{
    return now_ns > ns ? (now_ns - ns) / 1000000 : 0;
}

/* Some objects are numbers: descriptors, signals and processes. */
static void append_object(text *t, const void *object)
{
    uintptr_t number = (uintptr_t)object;

    if (number <= NUMBER_MAX)
        text_append(t, " %" PRIuPTR, number);
    else
        text_append(t, " %p", object);
}

static void append_wait(text *t, const fiber_snapshot *s, int64_t now_ns)
{
    long long longest = ms_since(now_ns, s->first_ns), shortest = ms_since(now_ns, s->last_ns);

    text_append(t, s->n > 1 ? " wait for %s" : " waits for %s", s->wait_kind);
    if (s->object_name[0])
        text_append(t, " '%s'", s->object_name);
    if (s->object)
        append_object(t, s->object);
    if (s->object && s->other_objects)
        text_append(t, " and others");
    if (shortest == longest)
        text_append(t, ", for %lld ms", longest);
    else
        text_append(t, ", for %lld to %lld ms", shortest, longest);
}

static void append_state(text *t, const fiber_snapshot *s, int64_t now_ns)
{
    if (s->state == WAITING)
        append_wait(t, s, now_ns);
    else if (s->state == RUNNING)
        text_append(t, " runs on worker %u", s->worker - 1);
    else
        text_append(t,
                    s->n > 1 ? " are ready, or wait for tasks" : " is ready, or waits for a task");
}

static void append_location(text *t, const char *before, const void *at)
{
    char name[160];

    fi_frame_name(at, name, sizeof name);
    text_append(t, "    %s %s\n", before, name);
}

/* next is a return address.  The call is before it, and may be the last instruction of its
 * function. */
static void append_frame(text *t, const void *next)
{
    const void *at = (const char *)next - 1;

    if (!fi_frame_is_internal(at))
        append_location(t, "at", at);
}

static int text_write(text *t, dump_output out)
{
    if (out.fd >= 0)
        return write_all(out.fd, t->bytes, t->n);
    fi_message_lines(out.level, t->bytes, t->n);
    return 0;
}

static int write_group(const fiber_snapshot *s, dump_output out, int64_t now_ns)
{
    text t = {.n = 0};

    if (s->n > 1)
        text_append(&t, "\n%u fibers like this: ", s->n);
    text_append(&t, "%sfiber '%s' %p", s->n > 1 ? "" : "\n", s->name, (const void *)s->fiber);
    append_state(&t, s, now_ns);
    if (s->job_name[0])
        text_append(&t, ", in job '%s'", s->job_name);
    else if (s->in_job)
        text_append(&t, ", in a job");
    if (s->bound)
        text_append(&t, ", bound to worker %u", s->bound - 1);
    text_append(&t, "\n");
    if (s->body)
        append_location(&t, "function", (const void *)s->body);
    for (unsigned i = 0; i < s->n_frames; i++)
        append_frame(&t, s->at[i]);
    return text_write(&t, out);
}

static int write_list(const fiber_list *l, size_t fibers, dump_output out)
{
    const fi_poller *poller = fi_poller_get(l->rt);
    int64_t now_ns = fi_clock_now();
    text t = {.n = 0};
    int e;

    text_append(&t, "filch: %zu fiber%s, %u worker%s%s%s\n", fibers, fibers == 1 ? "" : "s",
                l->rt->n_workers, l->rt->n_workers == 1 ? "" : "s", poller ? ", " : "",
                poller ? poller->name : "");
    e = text_write(&t, out);
    for (size_t i = 0; i < l->n && e == 0; i++)
        e = write_group(&l->fibers[i], out, now_ns);
    return e;
}

static int dump_fibers(fi_runtime *rt, dump_output out)
{
    fiber_list l = {.rt = rt};
    size_t fibers;
    int e = take_all_snapshots(&l);

    if (e < 0)
        return e;
    fibers = l.n;
    e = list_make_groups(&l);
    if (e == 0)
        e = write_list(&l, fibers, out);
    munmap(l.fibers, list_bytes(&l));
    return e;
}

int fi_dump(fi_runtime *rt, int fd)
{
    return fd < 0 ? -EBADF : dump_fibers(rt, (dump_output){.fd = fd});
}

void fi_dump_message(fi_runtime *rt, filch_level level)
{
    dump_fibers(rt, (dump_output){.fd = -1, .level = level});
}

static uint64_t wait_hash(const fiber_snapshot *s)
{
    uint64_t h = (uintptr_t)s->fiber;

    h = (h ^ (uintptr_t)s->object) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ (uint64_t)s->since_ns) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

uint64_t fi_dump_waits_hash(fi_runtime *rt)
{
    fiber_list l = {.rt = rt};
    uint64_t sum = 0;

    if (take_all_snapshots(&l) < 0)
        return 0;
    for (size_t i = 0; i < l.n; i++)
        sum += wait_hash(&l.fibers[i]); /* in any order */
    munmap(l.fibers, list_bytes(&l));
    return sum;
}

int filch_dump(int fd)
{
    fi_runtime *rt = fi_runtime_lock_running();
    int e = rt ? fi_dump(rt, fd) : -ESRCH;

    fi_runtime_unlock_running();
    return e;
}
