/* Uses each part of Filch, with sizes that are small enough for valgrind.  All memory is freed. */
#include <filch/filch.h>

#include <stdio.h>

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

FILCH_TASK(long, tree, int, depth)
{
    long sum = 1;

    if (depth == 0)
        return 1;
    for (int i = 0; i < 30; i++)
        FILCH_SPAWN(tree, depth - 1);
    for (int i = 0; i < 30; i++)
        sum += FILCH_SYNC(tree);
    return sum;
}

int main(void)
{
    for (int i = 0; i < 3; i++) {
        if (FILCH_RUN(fib, 18) != 2584 || FILCH_RUN(tree, 2) != 931)
            return 1;
        if (i == 1 && filch_stop() != 0)
            return 2;
    }
    printf("%u workers\n", filch_worker_count());
    return filch_stop() == 0 ? 0 : 3;
}
