#include <filch/task.h>
typedef struct huge {
    char bytes[1100];
} huge;
FILCH_TASK(int, giant, huge, h)
{
    return h.bytes[0];
}
int main(void)
{
    huge h = {{0}};
    return FILCH_RUN(giant, h);
}
