/* Step 1: a parallel loop.  It finds the number below a million with the longest Collatz sequence.
 * The sequence of n halves even numbers, replaces odd numbers by 3n + 1, and ends at 1. */
#include <filch/filch.h>
#include <stdio.h>

enum { N = 1000000 };

static int steps[N];

static int count_steps(unsigned long long n)
{
    int count = 0;
    for (; n > 1; count++)
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    return count;
}

/* Workers call this for parts of the range, several parts at a time. */
static void count_range(size_t lo, size_t hi, void *ctx)
{
    (void)ctx;
    for (size_t n = lo; n < hi; n++)
        steps[n] = count_steps(n);
}

int main(void)
{
    int longest = 1;
    filch_for(1, N, 0, count_range, NULL);
    for (int n = 2; n < N; n++)
        if (steps[n] > steps[longest])
            longest = n;
    printf("%d takes %d steps\n", longest, steps[longest]);
    return 0;
}
