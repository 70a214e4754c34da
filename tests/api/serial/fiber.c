/* A serial build has no fibers. */
#include <filch/filch.h>

static void body(void *arg)
{
    (void)arg;
}

int main(void)
{
    return filch_go(body, 0);
}
