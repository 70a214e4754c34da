/* Runs a function with one argument as the main fiber of a program. */
#ifndef TESTS_MAIN_FIBER_H
#define TESTS_MAIN_FIBER_H

#include <filch/fiber.h>

#include <stddef.h>

static struct {
    void (*body)(void *arg);
    void *arg;
} main_fiber_call;

static inline int main_fiber_run(int argc, char **argv)
{
    (void)argc, (void)argv;
    main_fiber_call.body(main_fiber_call.arg);
    return 0;
}

/* Call filch_main with a main fiber that calls body(arg).  Returns: 0, or the status of an
 * error. */
static inline int run_main_fiber(void (*body)(void *arg), void *arg)
{
    main_fiber_call.body = body;
    main_fiber_call.arg = arg;
    return filch_main(main_fiber_run, 0, NULL);
}

#endif
