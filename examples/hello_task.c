/* hello_task: a recursive function whose two calls run in parallel.  FILCH_SPAWN lets other workers
 * take the first call.  FILCH_SYNC gets its result, and runs the call itself if no worker took it.
 *
 *     $ ./hello_task
 *     fib(30) = 832040 */
#include <filch/task.h>
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

int main(void)
{
    printf("fib(30) = %ld\n", FILCH_RUN(fib, 30));
    return 0;
}
