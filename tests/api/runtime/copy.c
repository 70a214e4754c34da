/* copy IN OUT: copy from one descriptor to another by a fiber, up to the first newline. */
#include <filch/fiber.h>
#include <filch/io.h>
#include <filch/runtime.h>

#include <stdint.h>
#include <stdlib.h>

static int in, out;

static void *copy_line(void *arg)
{
    char c = 0;

    (void)arg;
    while (c != '\n')
        if (filch_read(in, &c, 1) != 1 || filch_write_all(out, &c, 1) != 1)
            return (void *)1;
    return NULL;
}

static void *tick(void *arg)
{
    filch_sleep(FILCH_MS(1));
    return arg;
}

int main(int argc, char **argv)
{
    filch_fiber *f[2];
    void *failed = NULL;

    in = argc > 1 ? atoi(argv[1]) : 0;
    out = argc > 2 ? atoi(argv[2]) : 1;
    f[0] = filch_fiber_start(tick, NULL);
    f[1] = filch_fiber_start(copy_line, NULL);
    for (int i = 0; i < 2; i++)
        filch_fiber_join(f[i], &failed);
    filch_stop();
    return failed != NULL;
}
