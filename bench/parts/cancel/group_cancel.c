/* group_cancel [N]: the time from the cancellation of a group of N sleeping members (default 10000)
 * until the group has ended.  Prints the best and the median of 11 rounds. */
#include <filch/filch.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 11, MIDDLE = ROUNDS / 2 };

static atomic_int started;

static int sleep_long(void *arg)
{
    (void)arg;
    atomic_fetch_add_explicit(&started, 1, memory_order_relaxed);
    return filch_sleep(FILCH_S(1000));
}

static int64_t round_ns(int n)
{
    filch_group g = FILCH_GROUP_INIT;
    int64_t begin;

    atomic_store(&started, 0);
    for (int i = 0; i < n; i++)
        filch_group_run_fallible(&g, sleep_long, NULL);
    while (atomic_load_explicit(&started, memory_order_relaxed) < n)
        filch_yield();
    filch_sleep(FILCH_MS(20)); /* the last ones begin to wait */
    begin = filch_now();
    filch_group_cancel(&g);
    filch_group_wait(&g);
    return filch_now() - begin;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int main_fiber(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 10000;
    int64_t ns[ROUNDS];
    double best, median;

    for (int i = 0; i < ROUNDS; i++)
        ns[i] = round_ns(n);
    qsort(ns, ROUNDS, sizeof *ns, compare);
    best = (double)ns[0] / 1e6;
    median = (double)ns[MIDDLE] / 1e6;
    printf("%d members: best %.3f ms, median %.3f ms\n", n, best, median);
    return 0;
}

int main(int argc, char **argv)
{
    return filch_main(main_fiber, argc, argv);
}
