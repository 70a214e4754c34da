#include "split.h"

FILCH_TASK_IMPL(pair, left, int, n, pair, so_far)
{
    so_far.even += n;
    if (n == 0)
        return so_far;
    FILCH_SPAWN(right, n - 1, so_far);
    return FILCH_SYNC(right);
}

FILCH_VOID_TASK_IMPL(note, long *, where, long, what)
{
    *where = what;
}
