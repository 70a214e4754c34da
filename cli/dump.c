/* filch dump: the fibers of a running process, with backtraces.
 *
 * The process runs meanwhile, and is not stopped.  A backtrace is printed only if the fiber was
 * parked at the same place before and after its stack was copied. */
#define _GNU_SOURCE
#include "args.h"
#include "backtrace.h"
#include "command.h"
#include "safe_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STACK_BYTES_MAX = 1 << 16, LINE_WIDTH = 1000 };

/* A fiber, or a group of fibers that are alike. */
typedef struct fiber_entry {
    remote_fiber fiber;
    unsigned n_frames;
    uint64_t at[FRAMES_MAX];
    uint32_t n; /* fibers of the group */
    int64_t first_ns, last_ns;
    bool other_objects; /* they wait for different objects */
} fiber_entry;

typedef struct fiber_list {
    remote process;
    symbols *names;
    fiber_entry *all;
    size_t n, capacity;
    bool is_full; /* out of memory */
} fiber_list;

static void dump_help(void)
{
    printf("usage: filch dump PID\n\n"
           "Lists the fibers of a running process: what each of them waits for, and where.\n"
           "Fibers that are alike are listed once.  The process needs no setting, and is not\n"
           "stopped.\n\n"
           "  -h, --help            print this text\n"
           "  -V, --version         print the version\n");
}

/* ---- reading ---- */

/* False: the fiber runs, or has run meanwhile. */
static bool is_parked_at(const remote *r, const remote_fiber *f)
{
    uint64_t now[REMOTE_REGISTERS] = {0};
    return f->worker < 0 && remote_read(r, f->address + r->at.fiber_registers, now, sizeof now) &&
           memcmp(now, f->registers, sizeof now) == 0 &&
           remote_u64(r, f->address + r->at.fiber_waiting) == f->waiter;
}

/* The stack ends at the record of the fiber. */
static size_t stack_bytes(const remote_fiber *f)
{
    uint64_t n = f->address - f->registers[0];
    return n < STACK_BYTES_MAX ? (size_t)n : STACK_BYTES_MAX;
}

static void read_frames(fiber_list *l, fiber_entry *e)
{
    static unsigned char bytes[STACK_BYTES_MAX];
    stack_copy stack = {.bytes = bytes, .size = stack_bytes(&e->fiber)};
    memcpy(stack.registers, e->fiber.registers, sizeof stack.registers);
    if (l->names && remote_read(&l->process, stack.registers[0], bytes, stack.size) &&
        is_parked_at(&l->process, &e->fiber))
        e->n_frames = backtrace_read(l->names, &stack, e->at);
}

static bool list_grow(fiber_list *l)
{
    size_t capacity = l->capacity > 0 ? 2 * l->capacity : 64;
    fiber_entry *all = realloc(l->all, capacity * sizeof *all);
    if (!all)
        return false;
    l->all = all;
    l->capacity = capacity;
    return true;
}

static void list_add(const remote_fiber *f, void *ctx)
{
    fiber_list *l = ctx;
    if (l->n == l->capacity && !list_grow(l)) {
        l->is_full = true;
        return;
    }
    fiber_entry *e = &l->all[l->n++];
    *e = (fiber_entry){.fiber = *f, .n = 1, .first_ns = f->since_ns, .last_ns = f->since_ns};
    if (f->worker < 0)
        read_frames(l, e);
}

/* ---- groups ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* 0: they are alike. */
static int compare_entries(const void *x, const void *y)
{
    const fiber_entry *a = x, *b = y;
    int c = (a->fiber.worker > b->fiber.worker) - (a->fiber.worker < b->fiber.worker);
    if (c == 0)
        c = compare_numbers(a->fiber.bound, b->fiber.bound);
    if (c == 0)
        c = compare_numbers(a->fiber.body, b->fiber.body);
    if (c == 0)
        c = compare_numbers(a->fiber.waits, b->fiber.waits);
    if (c == 0)
        c = strcmp(a->fiber.kind, b->fiber.kind);
    if (c == 0)
        c = strcmp(a->fiber.name, b->fiber.name);
    if (c == 0)
        c = compare_numbers(a->n_frames, b->n_frames);
    return c == 0 ? memcmp(a->at, b->at, a->n_frames * sizeof *a->at) : c;
}

/* Large groups first. */
static int compare_sizes(const void *x, const void *y)
{
    const fiber_entry *a = x, *b = y;
    int c = compare_numbers(b->n, a->n);
    return c == 0 ? compare_numbers(a->fiber.address, b->fiber.address) : c;
}

static void group_add(fiber_entry *group, const fiber_entry *e)
{
    group->n++;
    group->other_objects |= group->fiber.object != e->fiber.object;
    if (e->first_ns < group->first_ns)
        group->first_ns = e->first_ns;
    if (e->last_ns > group->last_ns)
        group->last_ns = e->last_ns;
}

static void list_make_groups(fiber_list *l)
{
    size_t n_groups = 0;
    if (l->n == 0)
        return;
    qsort(l->all, l->n, sizeof *l->all, compare_entries);
    for (size_t i = 0; i < l->n; i++) {
        if (n_groups > 0 && compare_entries(&l->all[n_groups - 1], &l->all[i]) == 0)
            group_add(&l->all[n_groups - 1], &l->all[i]);
        else
            l->all[n_groups++] = l->all[i];
    }
    l->n = n_groups;
    qsort(l->all, l->n, sizeof *l->all, compare_sizes);
}

/* ---- printing ---- */

static long long ms_since(int64_t now_ns, int64_t ns)
{
    return ns > 0 && now_ns > ns ? (now_ns - ns) / 1000000 : 0;
}

static void format_wait(const fiber_entry *e, int64_t now_ns, char *text, size_t size)
{
    long long longest = ms_since(now_ns, e->first_ns), shortest = ms_since(now_ns, e->last_ns);
    char number[REMOTE_TEXT], object[64] = "", range[48] = "";
    if (e->fiber.object)
        snprintf(object, sizeof object, " %s%s", remote_object_text(e->fiber.object, number),
                 e->other_objects ? " and others" : "");
    if (shortest != longest)
        snprintf(range, sizeof range, "%lld to ", shortest);
    snprintf(text, size, "%s for %s%s, for %s%lld ms", e->n > 1 ? "wait" : "waits", e->fiber.kind,
             object, range, longest);
}

static void format_state(const fiber_entry *e, int64_t now_ns, char *text, size_t size)
{
    if (e->fiber.worker >= 0)
        snprintf(text, size, "runs on worker %d", e->fiber.worker);
    else if (e->fiber.waits)
        format_wait(e, now_ns, text, size);
    else
        snprintf(text, size, "%s",
                 e->n > 1 ? "are ready, or wait for tasks" : "is ready, or waits for a task");
}

static void print_line(const char *text)
{
    print_safe_text(stdout, text, LINE_WIDTH);
    putchar('\n');
}

static void print_place(symbols *names, const char *before, uint64_t address)
{
    char name[512], line[600];
    symbol_name(names, address, name, sizeof name);
    snprintf(line, sizeof line, "    %s %s", before, name);
    print_line(line);
}

/* A frame is a return address.  The call is before it, and may be the last instruction of its
 * function.  Frames after that of the fiber's function started the fiber. */
static void print_frames(const fiber_list *l, const fiber_entry *e)
{
    unsigned n = e->n_frames;
    for (unsigned i = 0; i < e->n_frames && e->fiber.body; i++)
        if (symbol_is_same(l->names, e->at[i] - 1, e->fiber.body))
            n = i + 1;
    for (unsigned i = 0; i < n; i++)
        if (!symbol_is_internal(l->names, e->at[i] - 1, e->fiber.body))
            print_place(l->names, "at", e->at[i] - 1);
}

static void print_group(const fiber_list *l, const fiber_entry *e, int64_t now_ns)
{
    char state[256], line[600], alike[48] = "", bound[48] = "";
    if (e->n > 1)
        snprintf(alike, sizeof alike, "%u fibers like this: ", e->n);
    if (e->fiber.bound)
        snprintf(bound, sizeof bound, ", bound to worker %u", e->fiber.bound - 1);
    format_state(e, now_ns, state, sizeof state);
    snprintf(line, sizeof line, "%sfiber '%s' %#" PRIx64 " %s%s", alike, e->fiber.name,
             e->fiber.address, state, bound);
    putchar('\n');
    print_line(line);
    if (e->fiber.body)
        print_place(l->names, "function", e->fiber.body);
    print_frames(l, e);
}

static void print_list(fiber_list *l)
{
    struct timespec now;
    char poller[REMOTE_TEXT] = "";
    const remote *r = &l->process;
    size_t fibers = l->n;
    uint64_t at = remote_u64(r, r->runtime + r->at.runtime_poller);
    if (at)
        remote_string(r, remote_u64(r, at + r->at.poller_name), poller, sizeof poller);
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("filch: %zu fiber%s, %u worker%s%s", fibers, fibers == 1 ? "" : "s", r->n_workers,
           r->n_workers == 1 ? "" : "s", at ? ", " : "");
    print_line(poller);
    list_make_groups(l);
    for (size_t i = 0; i < l->n && !ferror(stdout); i++)
        print_group(l, &l->all[i], now.tv_sec * INT64_C(1000000000) + now.tv_nsec);
}

/* ---- the command ---- */

static int dump_failed(pid_t pid, const char *why)
{
    fprintf(stderr, "filch: process %d: %s\n", (int)pid, why);
    return EXIT_FAILED;
}

static int dump_process(pid_t pid)
{
    static fiber_list l;
    const char *why = remote_open(&l.process, pid);
    if (why)
        return dump_failed(pid, why);
    l.names = symbols_open(pid, &why);
    if (!l.names)
        fprintf(stderr, "filch: no backtraces: %s\n", why);
    bool is_there = remote_foreach_fiber(&l.process, list_add, &l);
    if (is_there && !l.is_full)
        print_list(&l);
    symbols_close(l.names);
    remote_close(&l.process);
    free(l.all);
    if (l.is_full)
        return dump_failed(pid, "out of memory for the list of its fibers");
    return is_there ? EXIT_OK : dump_failed(pid, "it ended or stopped its runtime meanwhile");
}

int command_dump(int argc, char **argv)
{
    static const struct option known[] = {COMMON_OPTIONS};
    next_option(argc, argv, ":hV", known, dump_help);
    if (optind == argc)
        usage_error("dump needs a process: filch dump PID");
    if (optind + 1 < argc)
        usage_error("dump takes one process (got also '%s')", argv[optind + 1]);
    return dump_process((pid_t)number_arg(argv[optind], "dump", 1, INT32_MAX));
}
