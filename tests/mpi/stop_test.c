/* How a job ends: stop_test MODE TOKEN, started by stop_test.sh, which finds the processes by
 * TOKEN.  There are 3 ranks.  Rank 0 calls stop, unless the mode says otherwise.
 *
 *     waiting   all other ranks wait
 *     stopped   rank 1 is stopped by SIGSTOP, rank 2 is in close
 *     thread    another thread than the communication thread calls stop
 *     before    rank 0 calls stop before open, while the others are in open
 *     during    rank 1 is stopped before open; another thread of rank 0 calls stop during open
 *     killed    rank 1 is killed while the others are in close; no rank calls stop
 *     orphaned  rank 0 kills its parent process, then calls stop; the others are in close
 *     late      rank 0 calls close late; the others print the CPU that they used meanwhile */
#include "transport_helpers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { STATUS = 3, DRIVER = 0, VICTIM = 1 };

static const char *mode;
static atomic_bool may_stop; /* the main thread calls stop */

static bool mode_is(const char *name)
{
    return strcmp(mode, name) == 0;
}

/* The launchers set one of these. */
static unsigned launched_rank(void)
{
    const char *text = getenv("OMPI_COMM_WORLD_RANK");

    if (!text)
        text = getenv("PMI_RANK");
    CHECK(text);
    return (unsigned)strtoul(text, NULL, 10);
}

static void wait_for_ever(void)
{
    for (;;) {
        int error = 0;
        fi_packet *p = net->poll(&error);

        CHECK(!p && error == 0);
        net->wait(100 * ms_ns);
    }
}

static void victim_await_stopped(void)
{
    while (!process_is_stopped(here.pids[VICTIM]))
        net->wait(ms_ns);
}

static void close_measured(void)
{
    int64_t wall = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

    net->close();
    wall = clock_ns(CLOCK_MONOTONIC) - wall;
    cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("close: rank %u, %.2f s, %.1f ms of CPU\n", here.rank, (double)wall / 1e9,
           (double)cpu / 1e6);
}

static void driver_run(void)
{
    if (mode_is("late"))
        usleep(2000000);
    if (mode_is("late") || mode_is("killed")) {
        net->close();
        return;
    }
    if (mode_is("stopped"))
        victim_await_stopped();
    if (mode_is("orphaned"))
        CHECK(kill(getppid(), SIGKILL) == 0);
    if (mode_is("thread")) {
        atomic_store(&may_stop, true);
        wait_for_ever();
    }
    usleep(100000); /* the others have probably reached their places; the test holds either way */
    net->stop(STATUS);
}

static void other_run(void)
{
    if (here.rank == VICTIM && mode_is("stopped"))
        raise(SIGSTOP);
    if (here.rank == VICTIM && mode_is("killed")) {
        usleep(100000);
        raise(SIGKILL);
    }
    if (mode_is("waiting") || mode_is("thread"))
        wait_for_ever();
    close_measured();
}

static void *communicate(void *ctx)
{
    unsigned rank = launched_rank();

    (void)ctx;
    if (rank == DRIVER && mode_is("before")) {
        usleep(100000);
        net->stop(STATUS);
    }
    if (rank == VICTIM && mode_is("during"))
        raise(SIGSTOP);
    transport_open();
    CHECK(!mode_is("during"));
    if (here.rank == DRIVER)
        driver_run();
    else
        other_run();
    return NULL;
}

/* In the role of the program's main thread, or of a check of the library. */
static void stop_by_main_thread(void)
{
    if (mode_is("during"))
        usleep(500000);
    else
        while (!atomic_load(&may_stop))
            usleep(1000);
    net->stop(STATUS);
}

int main(int argc, char **argv)
{
    pthread_t thread;

    if (argc != 3)
        return 2;
    mode = argv[1];
    CHECK(fi_transport_choose("mpi", &net, &config) == 0);
    CHECK(pthread_create(&thread, NULL, communicate, NULL) == 0);
    if (launched_rank() == DRIVER && (mode_is("thread") || mode_is("during")))
        stop_by_main_thread();
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}
