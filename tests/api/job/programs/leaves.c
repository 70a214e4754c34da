/* main returns while jobs run and wait. */
#include <filch/job.h>
#include <stdio.h>
#include <unistd.h>

static filch_group g = FILCH_GROUP_INIT; /* not on the stack of main, which ends first */
static filch_job *never;
static int begun;

static void run_on(void *arg)
{
    (void)arg;
    __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
    for (;;)
        pause();
}

static void wait_on(void *arg)
{
    (void)arg;
    filch_job_wait(never);
}

int main(void)
{
    never = filch_job_new(run_on, NULL);
    filch_group_run(&g, wait_on, NULL);
    filch_group_run(&g, run_on, NULL);
    while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
        continue;
    puts("left");
    return 0;
}
