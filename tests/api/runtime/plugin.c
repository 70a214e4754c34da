/* A library that uses Filch, and does not tell its users. */
#include <filch/filch.h>

long plugin_run(int n);
long plugin_stop(int n);

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

__attribute__((visibility("default"))) long plugin_run(int n)
{
    return FILCH_RUN(fib, n);
}

__attribute__((visibility("default"))) long plugin_stop(int n)
{
    return FILCH_RUN(fib, n) + filch_stop();
}
