/* Tasks without memory for a task stack: loops, sorts and nested runs use the stack of the caller. */
#include "child.h"
#include "unit/task/helpers.h"

#include <filch/filch.h>
#include <stdatomic.h>

#define N       5000
#define NESTING 100 /* runs in runs: more than fit into one task stack */
#define SPAWNS  800 /* fill most of a small task stack */

static int numbers[N];

static bool can_be_limited(void)
{
#ifdef FILCH_EMULATED
    puts("skipped: the limit includes the memory of the emulator");
    return false;
#else
    if (FI_UNDER_ASAN || FI_UNDER_TSAN)
        puts("skipped: a sanitizer needs an unlimited address space");
    return !FI_UNDER_ASAN && !FI_UNDER_TSAN;
#endif
}

/* No mapping succeeds from now on. */
static void use_up_memory(void)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_AS, &r) != 0)
        _exit(3);
    r.rlim_cur = 1 << 20;
    if (setrlimit(RLIMIT_AS, &r) != 0)
        _exit(3);
}

static void count_down(size_t lo, size_t hi, void *ctx)
{
    (void)ctx;
    for (; lo < hi; lo++)
        numbers[lo] = N - (int)lo;
}

static void loop_and_sort(void)
{
    filch_for(0, N, 1, count_down, NULL);
    if (filch_sort(numbers, N, sizeof *numbers, filch_compare_int, NULL) != 0)
        _exit(4);
    for (int i = 0; i < N; i++)
        if (numbers[i] != i + 1)
            _exit(5);
}

FILCH_VOID_TASK(runs_loops)
{
    loop_and_sort();
}

FILCH_TASK(int, one)
{
    return 1;
}

/* Loops after many open spawns. */
FILCH_TASK(int, spawns_then_loops)
{
    int sum = 0;

    for (int i = 0; i < SPAWNS; i++)
        FILCH_SPAWN(one);
    loop_and_sort();
    for (int i = 0; i < SPAWNS; i++)
        sum += FILCH_SYNC(one);
    return sum;
}

FILCH_TASK(int, nests, int, depth)
{
    int below;

    if (depth == 0)
        return 0;
    FILCH_SPAWN(one);
    below = FILCH_RUN(nests, depth - 1);
    return below + FILCH_SYNC(one);
}

static void run_all(int depth)
{
    loop_and_sort();
    FILCH_RUN(runs_loops);
    if (FILCH_RUN(spawns_then_loops) != SPAWNS)
        _exit(6);
    if (FILCH_RUN(nests, depth) != depth)
        _exit(7);
}

/* ---- a fiber ---- */

typedef struct request {
    unsigned workers;
    size_t stack_size;
    int depth;
} request;

static void *use_up_and_run(void *r)
{
    use_up_memory();
    run_all(((request *)r)->depth);
    return r;
}

static void run_on_fiber(void *arg)
{
    request *r = arg;
    const filch_config c = {.workers = r->workers, .stack_size = r->stack_size};
    filch_fiber *f;

    alarm(60);
    if (filch_start(&c) < 0)
        _exit(3);
    f = filch_fiber_start(use_up_and_run, r);
    if (!f || filch_fiber_join(f, NULL) != 0)
        _exit(8);
}

/* ---- a thread, while no runtime can start ---- */

/* The stack of the main thread cannot grow after the limit is set. */
static __attribute__((noinline)) void grow_stack(void)
{
    volatile char bytes[2 << 20];

    for (size_t i = 0; i < sizeof bytes; i += 1024)
        bytes[i] = 0;
}

static void run_on_thread(void *arg)
{
    (void)arg;
    alarm(60);
    grow_stack();
    use_up_memory();
    run_all(NESTING);
}

static void exits_with_0(void (*fn)(void *), void *arg)
{
    struct child_end end;

    CHECK_INT(child_end_of(&end, fn, arg), 0);
    if (end.status != 0)
        fprintf(stderr, "status %#x, said: %s\n", (unsigned)end.status, end.text);
    CHECK_INT(end.status, 0);
}

static void loops_in_fibers_run_without_memory(void **state)
{
    (void)state;
    if (!can_be_limited())
        return;
    for (unsigned n = 1; n <= 4; n *= 2) {
        exits_with_0(run_on_fiber, &(request){n, 0, 4});
        /* A large stack has space for several task stacks. */
        exits_with_0(run_on_fiber, &(request){n, (size_t)8 << 20, NESTING});
    }
}

static void loops_in_tasks_run_without_a_runtime(void **state)
{
    (void)state;
    if (can_be_limited())
        exits_with_0(run_on_thread, NULL);
}

CHECK_MAIN(loops_in_fibers_run_without_memory, loops_in_tasks_run_without_a_runtime)
