#include <filch/filch.h>
#include <stdio.h>

FILCH_TASK(long, fib, int, n) /* result type, name, then type/name pairs (0 to 8) */
{
    if (n < 2)
        return n;
    FILCH_SPAWN(fib, n - 1);         /* may be stolen */
    long b = FILCH_CALL(fib, n - 2); /* a plain call */
    long a = FILCH_SYNC(fib);        /* result of the newest unsynced spawn */
    return a + b;
}
int main(void) /* no set-up needed: the default runtime starts by itself */
{
    printf("%ld\n", FILCH_RUN(fib, 40));
    return 0;
}
