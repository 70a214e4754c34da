/* A frame that is larger than the stack and its guard together does not reach the stack of
 * another fiber.  This file is compiled with -fstack-clash-protection, as users of the library
 * are. */
#include "child.h"
#include "unit/task/helpers.h"

#include <filch/fiber.h>
#include <filch/runtime.h>
#include <filch/sync.h>
#include <sched.h>
#include <stdatomic.h>

#ifndef HAS_STACK_CLASH
int main(void)
{
    puts("skipped: the compiler has no -fstack-clash-protection");
    return 77;
}
#else

#define STACK      ((size_t)256 << 10)
#define NEIGHBOURS 40
#define NOINLINE   __attribute__((noinline))

static filch_sem gate = FILCH_SEM_INIT(0);
static atomic_int parked;

static void park(void *arg)
{
    (void)arg;
    atomic_fetch_add(&parked, 1);
    filch_sem_wait(&gate);
}

/* Only the far end of the frame is written; without probes the guard would be skipped. */
NOINLINE static char write_far_end(size_t size)
{
    volatile char *far = __builtin_alloca(size);

    far[0] = 1;
    return far[0];
}

static void use_large_frame(void *size)
{
    write_far_end(*(size_t *)size);
}

struct plan {
    size_t frame;
    filch_fiber_attr attr;
};

/* Fibers park on all neighbouring stacks, so that there is one below. */
static void overflow(void *arg)
{
    const struct plan *plan = arg;
    const filch_config c = {.workers = 1, .stack_size = STACK};
    const filch_fiber_attr neighbour = {.stack_size = plan->attr.stack_size};
    size_t frame = plan->frame;

    if (filch_start(&c) < 0)
        _exit(3);
    for (int i = 0; i < NEIGHBOURS; i++)
        if (filch_go_attr(&neighbour, park, NULL) < 0)
            _exit(3);
    while (atomic_load(&parked) < NEIGHBOURS)
        sched_yield();
    if (filch_go_attr(&plan->attr, use_large_frame, &frame) < 0)
        _exit(3);
    filch_stop();
}

static void check_report(struct plan plan, const char *line)
{
    struct child_end end;

    CHECK_INT(child_end_of(&end, overflow, &plan), 0);
    if (!WIFSIGNALED(end.status) || !strstr(end.text, line))
        fprintf(stderr, "status %#x, said: %s\n", (unsigned)end.status, end.text);
    CHECK(WIFSIGNALED(end.status));
    CHECK(strstr(end.text, line) == end.text);
}

static void large_frames_are_reported(void **state)
{
    (void)state;
    check_report((struct plan){(size_t)1 << 20, {.name = "greedy"}},
                 "filch: stack overflow in fiber \"greedy\"");
    check_report((struct plan){(size_t)8 << 20, {.name = "greedy"}},
                 "filch: stack overflow in fiber \"greedy\"");
    check_report((struct plan){(size_t)1 << 20, {.name = "small", .stack_size = 16384}},
                 "filch: stack overflow in fiber \"small\"");
}

/* The requested size is usable; the guard comes on top. */
static void the_whole_stack_is_usable(void **state)
{
    static const size_t sizes[] = {16384, 65536, 262144, 1048576};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t frame = sizes[i] - 8192; /* minus the frames of its callers */
        filch_fiber_attr attr = {.name = "user", .stack_size = sizes[i]};

        CHECK_INT(filch_go_attr(&attr, use_large_frame, &frame), 0);
        CHECK_INT(filch_stop(), 0);
    }
}

CHECK_MAIN(large_frames_are_reported, the_whole_stack_is_usable)
#endif
