#include <filch/task.h>

FILCH_TASK(int, answer, int, n)
{
    return n;
}

int main(void)
{
    return FILCH_RUN(answer, 0);
}
