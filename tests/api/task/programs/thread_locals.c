/* A program with large thread-local variables, which every thread must hold. */
#include <filch/filch.h>
#include <stdio.h>
#include <string.h>

static __thread char large[1 << 20];

FILCH_TASK(int, touch, int, n)
{
    memset(large, n, sizeof large);
    return large[sizeof large / 2];
}

int main(void)
{
    printf("%d\n", FILCH_RUN(touch, 7));
    return 0;
}
