/* The program of the documentation, with smaller sizes. */
#include <filch/filch.h>
#include <stdio.h>

FILCH_TASK(long, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_SPAWN(fib, n - 1);
    long b = FILCH_CALL(fib, n - 2);
    long a = FILCH_SYNC(fib);
    return a + b;
}

FILCH_VOID_TASK(visit, int, depth)
{
    if (depth == 0)
        return;
    for (int i = 0; i < 300; i++)
        FILCH_SPAWN(visit, depth - 1);
    for (int i = 0; i < 300; i++)
        FILCH_SYNC(visit);
}

int main(void)
{
    printf("%ld\n", FILCH_RUN(fib, 25));
    FILCH_RUN(visit, 2);
    return 0;
}
