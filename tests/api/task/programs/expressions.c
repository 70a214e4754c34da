/* Several calls may be part of one expression, which the compiler may evaluate in any order. */
#include <filch/filch.h>
#include <stdio.h>

FILCH_TASK(long, call_and_sync, int, n)
{
    if (n < 2)
        return n;
    FILCH_SPAWN(call_and_sync, n - 1);
    return FILCH_CALL(call_and_sync, n - 2) + FILCH_SYNC(call_and_sync);
}

FILCH_TASK(long, sync_and_call, int, n)
{
    if (n < 2)
        return n;
    FILCH_SPAWN(sync_and_call, n - 1);
    return FILCH_SYNC(sync_and_call) + FILCH_CALL(sync_and_call, n - 2);
}

FILCH_TASK(long, sync_and_sync, int, n)
{
    if (n < 2)
        return n;
    FILCH_SPAWN(sync_and_sync, n - 1);
    FILCH_SPAWN(sync_and_sync, n - 2);
    return FILCH_SYNC(sync_and_sync) + FILCH_SYNC(sync_and_sync);
}

FILCH_TASK(long, same, long, x)
{
    return x;
}

FILCH_TASK(long, sync_in_spawn, int, n)
{
    FILCH_SPAWN(call_and_sync, n);
    FILCH_SPAWN(same, FILCH_SYNC(call_and_sync));
    return FILCH_SYNC(same);
}

int main(void)
{
    long sum = FILCH_RUN(call_and_sync, 20) + FILCH_RUN(sync_and_call, 20) +
               FILCH_RUN(sync_and_sync, 20) + FILCH_RUN(sync_in_spawn, 20);
    printf("%ld\n", sum);
    return 0;
}
