/* A task with many spawns and a known result, which most tests run. */
#ifndef TESTS_FIB_H
#define TESTS_FIB_H

#include <filch/task.h>

FILCH_TASK(long, fib, int, n)
{
    long a, b;

    if (n < 2)
        return n;
    FILCH_SPAWN(fib, n - 1);
    b = FILCH_CALL(fib, n - 2);
    a = FILCH_SYNC(fib);
    return a + b;
}

#endif
