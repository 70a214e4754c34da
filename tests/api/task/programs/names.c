/* Arguments may have any name, also one that the macros could use. */
#include <filch/filch.h>
#include <stdio.h>

FILCH_TASK(int, first, int, s, int, top, int, fork, int, slot, int, frame, int, result, int, before,
           int, none)
{
    return s + top + fork + slot + frame + result + before + none;
}

FILCH_TASK(int, second, int, head, int, args, int, u, int, t, int, a, int, type, int, call, int, to)
{
    return head + args + u + t + a + type + call + to;
}

FILCH_VOID_TASK(third, int *, result, int, s)
{
    *result += s;
}

FILCH_TASK(int, both, int, n)
{
    int result = 0;
    FILCH_SPAWN(first, n, 2, 3, 4, 5, 6, 7, 8);
    FILCH_SPAWN(second, n, 2, 3, 4, 5, 6, 7, 8);
    FILCH_SPAWN(third, &result, 6);
    FILCH_SYNC(third);
    result += FILCH_SYNC(second);
    return result + FILCH_SYNC(first);
}

int main(void)
{
    printf("%d\n", FILCH_RUN(both, 1));
    return 0;
}
