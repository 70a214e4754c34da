#include "split.h"

#include <stdio.h>

FILCH_TASK_IMPL(pair, right, int, n, pair, so_far)
{
    so_far.odd += n;
    if (n == 0)
        return so_far;
    return FILCH_CALL(left, n - 1, so_far);
}

FILCH_TASK_IMPL(int, answer)
{
    long noted = 0;
    FILCH_SPAWN(note, &noted, 42);
    FILCH_SYNC(note);
    return (int)noted;
}

int main(void)
{
    pair none = {0, 0};
    pair p = FILCH_RUN(left, 100, none);
    printf("%ld %ld %d\n", p.even, p.odd, FILCH_RUN(answer));
    return 0;
}
