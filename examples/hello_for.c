/* hello_for: a loop that all workers run together.  filch_for splits the range into parts, calls a
 * function for each part, and returns when all parts are done.
 *
 *     $ ./hello_for
 *     the largest square is 998001 */
#include <filch/algo.h>
#include <stdio.h>

enum { N = 1000 };

static int square[N];

static void fill(size_t lo, size_t hi, void *ctx)
{
    (void)ctx;
    for (size_t i = lo; i < hi; i++)
        square[i] = (int)(i * i);
}

int main(void)
{
    filch_for(0, N, 0, fill, NULL);
    printf("the largest square is %d\n", square[N - 1]);
    return 0;
}
