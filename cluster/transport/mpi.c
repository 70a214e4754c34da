/* The transport over MPI: open, close and stop.  The build compiles the files mpi*.c once for each
 * MPI library, into a plugin. */
#include "transport/mpi_net.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Close and open look for the other ranks at these intervals. */
#define NAP_MIN_NS 50000
#define NAP_MAX_NS 10000000

#define STOP_SECONDS 2

/* Enough for the library that writes the text, which need not be the one of <mpi.h>.  The
 * maximum is 256 in Open MPI and 8192 in MPICH. */
#define LIBRARY_TEXT_SIZE 65536

fi_mpi_net fi_mpi;

static bool is_initializer; /* open initialised MPI, so close finalizes it */
static bool is_initializing;
static pid_t launcher; /* the parent process at open */
static void (*report_line)(const char *text);

/* ---- errors ---- */

static void report(const char *text)
{
    if (report_line)
        report_line(text);
    else
        fprintf(stderr, "filch: %s\n", text);
}

static void error_text(int e, char text[static MPI_MAX_ERROR_STRING])
{
    int length = 0;

    if (MPI_Error_string(e, text, &length) != MPI_SUCCESS)
        snprintf(text, MPI_MAX_ERROR_STRING, "error %d", e);
}

int fi_mpi_result(const char *call, int e)
{
    char text[MPI_MAX_ERROR_STRING], line[MPI_MAX_ERROR_STRING + 64];

    if (e == MPI_SUCCESS)
        return 0;
    error_text(e, text);
    snprintf(line, sizeof line, "%s failed (%s)", call, text);
    report(line);
    fi_mpi.error = -EIO;
    return -EIO;
}

static int open_result(int e, const char **why)
{
    static char text[MPI_MAX_ERROR_STRING];

    if (e == MPI_SUCCESS)
        return 0;
    error_text(e, text);
    *why = text;
    return -EIO;
}

/* ---- stopping ---- */

/* MPI_Abort waits for the launcher, which may be dead. */
static void *stop_late(void *status)
{
    sleep(STOP_SECONDS);
    _exit(*(const int *)status);
}

/* MPI cannot be used before the end of MPI_Init and after MPI_Finalize.  The launcher of MPICH ends
 * the job if a process is killed before MPI_Init, but not if it exits. */
static void abort_or_kill(int status)
{
    int is_initialized = 0, is_finalized = 0;

    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    if (!is_initialized)
        kill(getpid(), SIGKILL);
    else if (!is_finalized)
        MPI_Abort(MPI_COMM_WORLD, status);
}

/* [any] The launcher ends the other ranks.  A thread that is not the communication thread may call
 * MPI_Abort here: both libraries only send a message to the launcher. */
__attribute__((noreturn)) static void mpi_stop(int status)
{
    static FI_ATOMIC(uint32_t) n_calls;
    static int exit_status;
    pthread_t thread;

    if (fi_fetch_add_relaxed(&n_calls, 1u) > 0)
        for (;;)
            pause(); /* until the first call ends the process */
    exit_status = status;
    (void)pthread_create(&thread, NULL, stop_late, &exit_status);
    abort_or_kill(status);
    _exit(status);
}

/* ---- waiting for all ranks ---- */

static void launcher_check(void)
{
    if (getppid() == launcher)
        return;
    report("the process that started this rank has died; this rank ends");
    mpi_stop(1);
}

/* Blocking calls of MPI would use a CPU until the last rank arrives. */
static void nap(int64_t *ns)
{
    launcher_check();
    nanosleep(&(struct timespec){.tv_nsec = (long)*ns}, NULL);
    *ns = 2 * *ns < NAP_MAX_NS ? 2 * *ns : NAP_MAX_NS;
}

int fi_mpi_await(int e, MPI_Request *request, const char **why)
{
    int64_t nap_ns = NAP_MIN_NS;
    int done = 0;

    while (e == MPI_SUCCESS) {
        e = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            break;
        nap(&nap_ns);
    }
    return open_result(e, why);
}

/* ---- opening ---- */

/* A program that is linked with MPI brings its own library, and the plugin uses that one.  Handles
 * differ between MPI libraries. */
static int library_check(const char **why)
{
    static char text[LIBRARY_TEXT_SIZE];
    int length = 0;

    MPI_Get_library_version(text, &length);
#ifdef OPEN_MPI
    if (strstr(text, "Open MPI"))
        return 0;
    *why =
        "the launcher (mpirun) is of Open MPI, but the program is linked with another MPI library; "
        "use the launcher of that library";
#else
    if (!strstr(text, "Open MPI"))
        return 0;
    *why = "the launcher (mpirun) is of MPICH, but the program is linked with Open MPI; use the "
           "launcher of Open MPI";
#endif
    return -EPROTO;
}

/* MPI libraries end the process if they cannot be initialised. */
static void initializing_exit(void)
{
    if (is_initializing)
        report("filch_cluster_start: MPI_Init_thread failed and ended this process; see the "
               "messages of MPI");
}

static int mpi_init(const char **why)
{
    int level = MPI_THREAD_SINGLE;
    int e;

    (void)atexit(initializing_exit);
    is_initializing = true;
    e = open_result(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level), why);
    is_initializing = false;
    if (e < 0)
        return e;
    is_initializer = true;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (level < MPI_THREAD_FUNNELED) {
        *why = "MPI does not grant MPI_THREAD_FUNNELED";
        return -ENOTSUP;
    }
    return 0;
}

/* The program makes MPI calls at the same time as the communication thread. */
static int mpi_check_initialized(const char **why)
{
    int level = MPI_THREAD_SINGLE;

    if (MPI_Query_thread(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE)
        return 0;
    *why = "the program initialised MPI without MPI_THREAD_MULTIPLE";
    return -EINVAL;
}

static int mpi_start(const char **why)
{
    int is_initialized = 0, is_finalized = 0;

    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    if (is_finalized) {
        *why = "MPI is finalized and cannot be initialised again in this process";
        return -EINVAL;
    }
    return is_initialized ? mpi_check_initialized(why) : mpi_init(why);
}

/* Without its launcher each process is rank 0 of a world of its own, and MPI reports no error. */
static int world_check(const fi_transport_config *config, const char **why)
{
    int n = 0, rank = 0;
    int e = open_result(MPI_Comm_size(MPI_COMM_WORLD, &n), why);

    if (e == 0)
        e = open_result(MPI_Comm_rank(MPI_COMM_WORLD, &rank), why);
    if (e < 0)
        return e;
    if ((config->launched_ranks == 0 || (unsigned)n == config->launched_ranks) &&
        (config->launched_rank < 0 || rank == config->launched_rank))
        return 0;
    if (is_initializer)
        MPI_Finalize();
    *why = "MPI has another number of ranks than the launcher started; the plugin and the launcher "
           "(mpirun) are of different MPI libraries";
    return -EPROTO;
}

/* If open has initialised MPI, it is the only user of MPI_COMM_WORLD, and needs no duplicate. */
static int comm_open(const void *mpi_comm, const char **why)
{
    MPI_Comm from = mpi_comm ? *(const MPI_Comm *)mpi_comm : MPI_COMM_WORLD;
    int rank = 0, ranks = 0, e = 0;
    MPI_Request request;

    fi_mpi.comm = from;
    if (!is_initializer)
        e = fi_mpi_await(MPI_Comm_idup(from, &fi_mpi.comm, &request), &request, why);
    if (e < 0)
        return e;
    MPI_Comm_set_errhandler(fi_mpi.comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(fi_mpi.comm, &rank);
    MPI_Comm_size(fi_mpi.comm, &ranks);
    fi_mpi.place.rank = (unsigned)rank;
    fi_mpi.place.ranks = (unsigned)ranks;
    return 0;
}

static void net_init(const fi_transport_config *config)
{
    memset(&fi_mpi, 0, sizeof fi_mpi);
    fi_mpi.arrived_end = &fi_mpi.arrived;
    fi_mpi.has_progressed = true; /* the first transfer begins with yields */
    report_line = config->report;
    launcher = getppid();
}

/* After a failure of one rank the others may be inside a collective call.  The process must end
 * then, and MPI ends the job. */
static int mpi_open(const fi_transport_config *config, fi_place *place, const char **why)
{
    int e;

    net_init(config);
    e = library_check(why);
    if (e == 0)
        e = mpi_start(why);
    if (e == 0)
        e = world_check(config, why);
    if (e == 0)
        e = comm_open(config->mpi_comm, why);
    if (e == 0)
        e = fi_mpi_node_open(why);
    if (e == 0)
        *place = fi_mpi.place;
    return e;
}

/* ---- closing ---- */

/* Receive and drop what no rank waits for, such as the last heartbeats.  The send of a large
 * message completes only when it is received.  Returns 0 or -errno. */
static int messages_drop(void)
{
    fi_packet *p;
    int e = 0;

    while ((p = fi_mpi_poll(&e)) != NULL)
        fi_packet_free(p);
    return e;
}

static void transfers_await(const fi_mpi_requests *list)
{
    int64_t nap_ns = NAP_MIN_NS;

    while (messages_drop() == 0 && list->n > 0)
        nap(&nap_ns);
}

static int barrier_await(const char **why)
{
    int64_t nap_ns = NAP_MIN_NS;
    MPI_Request request;
    int done = 0, e = MPI_Ibarrier(fi_mpi.comm, &request);

    while (e == MPI_SUCCESS) {
        (void)messages_drop();
        e = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            break;
        nap(&nap_ns);
    }
    return open_result(e, why);
}

/* MPICH before 4.2 can hang in MPI_Finalize if its messages travel over TCP: a rank that has
 * disconnected waits without answering the ranks that disconnect later (mpich pull request 6596).
 * Programs of any kind hang.  Nearly all do if the ranks come at different times, so they come at
 * the same time.  All have passed the barrier of close, so this barrier is short. */
static void mpi_finalize(void)
{
    if (fi_mpi.place.n_near < fi_mpi.place.ranks)
        (void)MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

static void mpi_close(void)
{
    const char *why = NULL;

    transfers_await(&fi_mpi.sends);
    if (barrier_await(&why) < 0)
        report(why);
    transfers_await(&fi_mpi.receives);
    fi_mpi_node_close();
    if (is_initializer)
        mpi_finalize();
    else
        MPI_Comm_free(&fi_mpi.comm);
}

extern const fi_transport fi_transport_mpi;
__attribute__((visibility("default"))) const fi_transport fi_transport_mpi = {
    .version = FI_TRANSPORT_VERSION,
    .name = "mpi",
    .open = mpi_open,
    .send = fi_mpi_send,
    .poll = fi_mpi_poll,
    .wait = fi_mpi_wait,
    .ring = fi_mpi_ring,
    .stop = mpi_stop,
    .close = mpi_close,
};
