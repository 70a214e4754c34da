/* The list of all fibers.  First all are looked at, each for a moment, and what is fiber_snapshot is kept; then it is sorted into
 * kinds and written, while the fibers go on.
 *
 * Memory comes from the kernel: this is the last word of a program that may have stopped in its allocator. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* process_vm_readv */
#endif
#include "debug/dump.h"

#include "base/clock.h"
#include "wait/waitq.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define FRAMES_MAX 24
#define PAGE       ((uintptr_t)4096) /* or a multiple */

enum { RUNS, WAITS, READY };

/* One fiber, or several that are alike. */
typedef struct fiber_snapshot {
    const fi_fiber *fiber;
    char name[32];
    uintptr_t body;
    unsigned state, worker, frames;
    const char *what;
    const void *at[FRAMES_MAX];
    /* The rest may differ. */
    const void *object;
    int64_t since_ns;
    bool objects; /* they do not all wait for the same one */
    uint32_t n;
    int64_t first_ns, last_ns;
} fiber_snapshot;

typedef struct list {
    fi_runtime *rt;
    fiber_snapshot *fibers;
    size_t n, room; /* n: also those that there was no room for */
} list;

/* ---- looking ---- */

/* By the kernel, as the memory may be gone: a name lives as long as its fiber, and that may end meanwhile. */
static bool peek(void *to, const void *from, size_t n)
{
    struct iovec local = {to, n}, remote = {(void *)(uintptr_t)from, n};

    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)n;
}

/* Until its end, or the end of what can be read. */
static void peek_text(char *text, size_t size, const char *from)
{
    size_t n = 0;

    while (n + 1 < size) {
        size_t most = PAGE - (uintptr_t)(from + n) % PAGE;
        if (most > size - 1 - n)
            most = size - 1 - n;
        if (!peek(text + n, from + n, most))
            break;
        n += most;
        if (memchr(text, '\0', n))
            return;
    }
    text[n] = '\0';
}

void fi_dump_name(const fi_fiber *f, char *name, size_t size)
{
    const char *at = NULL;

    snprintf(name, size, "?");
    if (peek(&at, &f->stack_bounds.name, sizeof at) && at)
        peek_text(name, size, at);
}

static void take_snapshot(fiber_snapshot *s, fi_runtime *rt, fi_fiber *f)
{
    const fi_waiter *wait;
    const fi_worker *on = fi_fiber_freeze_in(rt, f, &wait);

    *s = (fiber_snapshot){.fiber = f, .n = 1, .state = on ? RUNS : wait ? WAITS : READY};
    s->body = fi_load_relaxed(&f->body);
    if (on)
        s->worker = on->index + 1;
    else
        s->frames = fi_frames_of(f, s->at, FRAMES_MAX);
    if (wait && !on) {
        s->what = wait->reason.kind;
        s->object = wait->reason.object;
        s->since_ns = wait->since_ns;
    }
    fi_dump_name(f, s->name, sizeof s->name);
    fi_fiber_thaw(f);
}

static void visit(fi_fiber *f, void *ctx)
{
    list *l = ctx;

    if (!fi_load_relaxed(&f->busy))
        return;
    if (l->n < l->room)
        take_snapshot(&l->fibers[l->n], l->rt, f);
    l->n++;
}

static size_t bytes_of(const list *l)
{
    return l->room * sizeof *l->fibers;
}

static int make_room(list *l, size_t room)
{
    void *at;

    l->room = room;
    l->n = 0;
    at = mmap(NULL, bytes_of(l), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    l->fibers = at;
    return at == MAP_FAILED ? -errno : 0;
}

/* Again with more room, where there was too little. */
static int take_all_snapshots(list *l)
{
    size_t room = 64;
    int e;

    while ((e = make_room(l, room)) == 0) {
        fi_fiber_foreach(l->rt, visit, l);
        if (l->n <= l->room)
            return 0;
        munmap(l->fibers, bytes_of(l));
        room = 2 * l->n;
    }
    return e;
}

/* ---- sorting ---- */

static bool are_alike(const fiber_snapshot *a, const fiber_snapshot *b)
{
    return a->body == b->body && a->state == b->state && a->worker == b->worker &&
           a->what == b->what && a->frames == b->frames && strcmp(a->name, b->name) == 0 &&
           memcmp(a->at, b->at, a->frames * sizeof *a->at) == 0;
}

static size_t hash_of(const fiber_snapshot *s)
{
    uint64_t h = s->body ^ (uintptr_t)s->what ^ s->state;

    for (unsigned i = 0; i < s->frames; i++)
        h = (h ^ (uintptr_t)s->at[i]) * UINT64_C(0x9e3779b97f4a7c15);
    for (const char *c = s->name; *c; c++)
        h = (h ^ (uint64_t)*c) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 32);
}

static void add_to(fiber_snapshot *kind, const fiber_snapshot *s)
{
    kind->n++;
    kind->objects |= kind->object != s->object;
    if (s->since_ns < kind->first_ns)
        kind->first_ns = s->since_ns;
    if (s->since_ns > kind->last_ns)
        kind->last_ns = s->since_ns;
}

/* Of those that are alike only the first stays, with their number.  table: twice as many words as fibers. */
static void sort(list *l, uint32_t *table)
{
    size_t size = 2 * l->n, kinds = 0;

    for (size_t i = 0; i < l->n; i++) {
        fiber_snapshot *s = &l->fibers[i];
        size_t at = hash_of(s) % size;
        while (table[at] && !are_alike(&l->fibers[table[at] - 1], s))
            at = (at + 1) % size;
        if (table[at]) {
            add_to(&l->fibers[table[at] - 1], s);
            continue;
        }
        s->first_ns = s->last_ns = s->since_ns;
        l->fibers[kinds++] = *s;
        table[at] = (uint32_t)kinds;
    }
    l->n = kinds;
}

static int sort_into_groups(list *l)
{
    size_t bytes = 2 * l->n * sizeof(uint32_t);
    void *table;

    if (l->n == 0)
        return 0;
    table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED)
        return -errno;
    sort(l, table);
    munmap(table, bytes);
    return 0;
}

/* ---- writing ---- */

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

/* One paragraph, written in one piece. */
typedef struct text {
    char line[4096];
    size_t n;
} text;

__attribute__((format(printf, 2, 3))) static void append(text *t, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(t->line + t->n, sizeof t->line - t->n, format, args);
    va_end(args);
    t->n += (size_t)n < sizeof t->line - t->n ? (size_t)n : sizeof t->line - t->n - 1;
}

/* A clock that is refreshed now and then may be ahead of who read it earlier. */
static long long ms_since(int64_t now_ns, int64_t ns)
{
    return now_ns > ns ? (now_ns - ns) / 1000000 : 0;
}

static void append_wait(text *t, const fiber_snapshot *s, int64_t now_ns)
{
    long long longest = ms_since(now_ns, s->first_ns), shortest = ms_since(now_ns, s->last_ns);

    append(t, s->n > 1 ? " wait for %s" : " waits for %s", s->what);
    if (s->object)
        append(t, " %p%s", s->object, s->objects ? " and others" : "");
    if (shortest == longest)
        append(t, ", for %lld ms", longest);
    else
        append(t, ", for %lld to %lld ms", shortest, longest);
}

static void append_state(text *t, const fiber_snapshot *s, int64_t now_ns)
{
    if (s->state == WAITS)
        append_wait(t, s, now_ns);
    else if (s->state == RUNS)
        append(t, " runs on worker %u", s->worker - 1);
    else
        append(t, s->n > 1 ? " are ready, or wait for tasks" : " is ready, or waits for a task");
}

static void append_location(text *t, const char *before, const void *at)
{
    char name[160];

    fi_frame_name(at, name, sizeof name);
    append(t, "    %s %s\n", before, name);
}

/* What is known is where it will go on: the call stands before that, maybe at the end of its function. */
static void append_frame(text *t, const void *next)
{
    const void *at = (const char *)next - 1;

    if (!fi_frame_is_inside(at))
        append_location(t, "at", at);
}

static int write_group(const fiber_snapshot *s, int fd, int64_t now_ns)
{
    text t = {.n = 0};

    if (s->n > 1)
        append(&t, "\n%u fibers like this: ", s->n);
    append(&t, "%sfiber '%s' %p", s->n > 1 ? "" : "\n", s->name, (const void *)s->fiber);
    append_state(&t, s, now_ns);
    append(&t, "\n");
    if (s->body)
        append_location(&t, "function", (const void *)s->body);
    for (unsigned i = 0; i < s->frames; i++)
        append_frame(&t, s->at[i]);
    return write_all(fd, t.line, t.n);
}

static int write_list(const list *l, size_t fibers, int fd)
{
    const fi_poller *poller = fi_poller_get(l->rt);
    int64_t now_ns = fi_clock_now();
    text t = {.n = 0};
    int e;

    append(&t, "filch: %zu fibers, %u workers%s%s\n", fibers, l->rt->n_workers, poller ? ", " : "",
           poller ? poller->name : "");
    e = write_all(fd, t.line, t.n);
    for (size_t i = 0; i < l->n && e == 0; i++)
        e = write_group(&l->fibers[i], fd, now_ns);
    return e;
}

int fi_dump(fi_runtime *rt, int fd)
{
    list l = {.rt = rt};
    size_t fibers;
    int e = take_all_snapshots(&l);

    if (e < 0)
        return e;
    fibers = l.n;
    e = sort_into_groups(&l);
    if (e == 0)
        e = write_list(&l, fibers, fd);
    munmap(l.fibers, bytes_of(&l));
    return e;
}
