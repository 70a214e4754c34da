#include <filch/task.h>
typedef struct wide {
    __attribute__((aligned(32))) char bytes[32];
} wide;
FILCH_TASK(int, broad, wide, w)
{
    return w.bytes[0];
}
int main(void)
{
    wide w = {{0}};
    return FILCH_RUN(broad, w);
}
