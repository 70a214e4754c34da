/* hello_fiber: a thousand fibers that wait at the same time.  A fiber that sleeps parks, and its
 * worker runs other fibers.  So all of them take about as long as one.
 *
 *     $ ./hello_fiber
 *     1000 fibers slept 10 ms each */
#include <filch/fiber.h>
#include <stdio.h>

enum { N = 1000 };

static void *sleeper(void *arg)
{
    return filch_sleep(FILCH_MS(10)) == 0 ? arg : NULL;
}

static int main_fiber(int argc, char **argv)
{
    static filch_fiber *fibers[N];
    int n = 0;
    (void)argc;
    for (int i = 0; i < N; i++)
        fibers[i] = filch_fiber_start(sleeper, argv);
    for (int i = 0; i < N; i++) {
        void *result = NULL;
        if (fibers[i] && filch_fiber_join(fibers[i], &result) == 0 && result)
            n++;
    }
    printf("%d fibers slept 10 ms each\n", n);
    return n < N;
}

int main(int argc, char **argv)
{
    return filch_main(main_fiber, argc, argv); /* run main_fiber on a fiber */
}
