/* A chain of fibers that join each other.  The last one waits for a semaphore that is never posted,
 * so the program ends in a deadlock. */
#include <filch/filch.h>

#include <stddef.h>

static filch_fiber *left, *right, *last;
static filch_sem never;

__attribute__((noinline)) static int wait_for(filch_fiber *const *other)
{
    while (!*other)
        filch_yield(); /* it is not started yet */
    return filch_fiber_join(*other, NULL) + 1;
}

static void *go_round(void *other)
{
    return wait_for(other) > 0 ? other : NULL;
}

static void *wait_forever(void *arg)
{
    return filch_sem_wait(&never) == 0 ? arg : NULL;
}

static void *sleep_long(void *arg)
{
    filch_sleep(FILCH_S(1000));
    return arg;
}

static int main_fiber(int argc, char **argv)
{
    const filch_fiber_attr l = {.name = "left"}, r = {.name = "right", .stack_size = 65536};
    filch_fiber *third = filch_fiber_start(sleep_long, NULL);

    (void)argc, (void)argv;
    left = filch_fiber_start_attr(&l, go_round, &right);
    right = filch_fiber_start_attr(&r, go_round, &last);
    last = filch_fiber_start(wait_forever, NULL);
    filch_fiber_cancel(third);
    filch_fiber_join(third, NULL);
    wait_for(&left);
    return 0;
}

int main(int argc, char **argv)
{
    filch_config c = {0};

    c.workers = 1;
    c.deadlock = FILCH_DEADLOCK_ABORT;
    return filch_start(&c) == 0 ? filch_main(main_fiber, argc, argv) : 1;
}
