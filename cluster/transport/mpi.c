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

/* Enough for the library that writes the text, which need not be the one of <mpi.h>.  The maximum is
 * 256 in Open MPI and 8192 in MPICH. */
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

/* MPI cannot be used before the end of MPI_Init and after MPI_Finalize.  The launcher of MPICH takes
 * no notice of a process that exits before MPI_Init.  It does of one that is killed. */
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
static void await(bool (*is_over)(void))
{
    int64_t nap = NAP_MIN_NS;

    while (!is_over()) {
        launcher_check();
        nanosleep(&(struct timespec){.tv_nsec = (long)nap}, NULL);
        nap = 2 * nap < NAP_MAX_NS ? 2 * nap : NAP_MAX_NS;
    }
}

static MPI_Request barrier;

static bool barrier_is_over(void)
{
    int done = 0;
    int e = fi_mpi_result("MPI_Test", MPI_Test(&barrier, &done, MPI_STATUS_IGNORE));

    return e < 0 || done;
}

static int ranks_await(MPI_Comm comm)
{
    int e = MPI_Ibarrier(comm, &barrier);

    if (e == MPI_SUCCESS)
        await(barrier_is_over);
    return e;
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

/* Without its launcher each process is a world of its own, and MPI reports no error. */
static int world_check(unsigned launched_ranks, const char **why)
{
    int n = 0;
    int e = open_result(MPI_Comm_size(MPI_COMM_WORLD, &n), why);

    if (e < 0 || launched_ranks == 0 || (unsigned)n == launched_ranks)
        return e;
    if (is_initializer)
        MPI_Finalize();
    *why = "MPI has another number of ranks than the launcher started; the plugin and the launcher "
           "(mpirun) are of different MPI libraries";
    return -EPROTO;
}

static int comm_open(const void *mpi_comm, const char **why)
{
    MPI_Comm from = mpi_comm ? *(const MPI_Comm *)mpi_comm : MPI_COMM_WORLD;
    int rank = 0, ranks = 0;
    int e = open_result(ranks_await(from), why);

    if (e == 0)
        e = open_result(MPI_Comm_dup(from, &fi_mpi.comm), why);
    if (e < 0)
        return e;
    MPI_Comm_set_errhandler(fi_mpi.comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(fi_mpi.comm, &rank);
    MPI_Comm_size(fi_mpi.comm, &ranks);
    fi_mpi.place.rank = (unsigned)rank;
    fi_mpi.place.ranks = (unsigned)ranks;
    /* The key keeps the ranks ascending. */
    return open_result(
        MPI_Comm_split_type(fi_mpi.comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &fi_mpi.node),
        why);
}

static int place_alloc(const char **why)
{
    fi_mpi.near = calloc(fi_mpi.place.n_near, sizeof *fi_mpi.near);
    fi_mpi.pids = calloc(fi_mpi.place.n_near, sizeof *fi_mpi.pids);
    fi_mpi.place.near = fi_mpi.near;
    fi_mpi.place.pids = fi_mpi.pids;
    if (fi_mpi.near && fi_mpi.pids)
        return 0;
    *why = "there is no memory";
    return -ENOMEM;
}

static int place_gather(const char **why)
{
    int rank = (int)fi_mpi.place.rank, pid = (int)getpid();
    int e;

    _Static_assert(sizeof *fi_mpi.near == sizeof(int) && sizeof *fi_mpi.pids == sizeof(int),
                   "MPI_INT transfers both");
    e = place_alloc(why);
    if (e == 0)
        e = open_result(MPI_Allgather(&rank, 1, MPI_INT, fi_mpi.near, 1, MPI_INT, fi_mpi.node),
                        why);
    if (e == 0)
        e = open_result(MPI_Allgather(&pid, 1, MPI_INT, fi_mpi.pids, 1, MPI_INT, fi_mpi.node), why);
    return e;
}

/* MPI aligns the window to pages or not at all.  All ranks see the same offset in a page. */
static fi_mpi_near *lines_align(void *base)
{
    return (fi_mpi_near *)(((uintptr_t)base + sizeof(fi_mpi_near) - 1) &
                           ~(sizeof(fi_mpi_near) - 1));
}

/* The first rank of the node allocates the lines of all, so that they are one array. */
static int window_open(int index, const char **why)
{
    size_t size = index == 0 ? (fi_mpi.place.n_near + 1) * sizeof(fi_mpi_near) : 0;
    void *base = NULL;
    MPI_Aint whole;
    int unit;
    int e = open_result(MPI_Win_allocate_shared((MPI_Aint)size, 1, MPI_INFO_NULL, fi_mpi.node,
                                                &base, &fi_mpi.window),
                        why);

    if (e == 0)
        e = open_result(MPI_Win_shared_query(fi_mpi.window, 0, &whole, &unit, &base), why);
    if (e < 0)
        return e;
    fi_mpi.lines = lines_align(base);
    fi_mpi.own = &fi_mpi.lines[index];
    fi_atomic_init(&fi_mpi.own->doorbell, FI_DOORBELL_AWAKE);
    fi_atomic_init(&fi_mpi.own->sent, 0u);
    /* No rank sends before the doorbells of its node are initialised. */
    return open_result(MPI_Barrier(fi_mpi.node), why);
}

static int node_open(const char **why)
{
    int index = 0, n = 0;
    int e;

    MPI_Comm_rank(fi_mpi.node, &index);
    MPI_Comm_size(fi_mpi.node, &n);
    fi_mpi.place.n_near = (unsigned)n;
    e = place_gather(why);
    return e < 0 ? e : window_open(index, why);
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
        e = world_check(config->launched_ranks, why);
    if (e == 0)
        e = comm_open(config->mpi_comm, why);
    if (e == 0)
        e = node_open(why);
    if (e == 0)
        *place = fi_mpi.place;
    return e;
}

/* ---- closing ---- */

static bool sends_are_over(void)
{
    return fi_mpi_sends_test() < 0 || fi_mpi.sends.n == 0;
}

/* MPICH before 4.2 can hang in MPI_Finalize if its messages travel over TCP: a rank that has
 * disconnected waits without answering the ranks that disconnect later (mpich pull request 6596).
 * Programs of any kind hang.  Nearly all do if the ranks come at different times, so they come at
 * the same time.  All have passed ranks_await, so this barrier is short. */
static void mpi_finalize(void)
{
    if (fi_mpi.place.n_near < fi_mpi.place.ranks)
        (void)MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

static void mpi_close(void)
{
    await(sends_are_over);
    (void)ranks_await(fi_mpi.comm);
    MPI_Win_free(&fi_mpi.window);
    MPI_Comm_free(&fi_mpi.node);
    MPI_Comm_free(&fi_mpi.comm);
    free(fi_mpi.near);
    free(fi_mpi.pids);
    if (is_initializer)
        mpi_finalize();
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
