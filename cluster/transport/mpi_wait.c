/* Waiting for messages of MPI, without using a CPU. */
#include "transport/mpi_net.h"

#include <sched.h>
#include <time.h>

/* A transfer that makes no progress for YIELD_NS waits for a rank that does not run. */
#define YIELD_NS   10000000
#define NAP_MIN_NS 50000
#define NAP_MAX_NS 1000000

static int64_t progress_ns; /* time of the last wait after progress */
static int64_t nap_ns;      /* the next nap beside an open transfer */

static int64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* True: MPI has something to do that ends without a ring. */
static bool transfer_is_open(void)
{
    /* Relaxed: each change of the count is followed by a ring. */
    return fi_mpi.sends.n > 0 || fi_mpi.receives.n > 0 ||
           fi_load_relaxed(&fi_mpi.own->sent) != fi_mpi.near_received;
}

/* How long to sleep beside an open transfer.  0: not at all, because its other rank runs. */
static int64_t transfer_nap(void)
{
    int64_t now = clock_ns(), nap;

    if (fi_mpi.has_progressed) {
        fi_mpi.has_progressed = false;
        progress_ns = now;
        nap_ns = NAP_MIN_NS;
    }
    if (now - progress_ns < YIELD_NS)
        return 0;
    nap = nap_ns;
    nap_ns = 2 * nap < NAP_MAX_NS ? 2 * nap : NAP_MAX_NS;
    return nap;
}

/* An error counts as a message, so that the next poll returns it. */
static bool message_is_there(void)
{
    int flag = 0;

    return fi_mpi.arrived ||
           MPI_Iprobe(MPI_ANY_SOURCE, FI_MPI_TAG, fi_mpi.comm, &flag, MPI_STATUS_IGNORE) !=
               MPI_SUCCESS ||
           flag;
}

/* The caller has a message to send, and can now.  The poll that completed the last open send
 * left no other reason to end the wait. */
static bool refused_can_send(void)
{
    bool is_refused = fi_mpi.is_refused;

    fi_mpi.is_refused = false;
    return is_refused && fi_mpi.sends.n < FI_MPI_MAX_REQUESTS;
}

/* Returns true: the thread has slept. */
static bool doorbell_sleep(int64_t ns)
{
    fi_doorbell *doorbell = &fi_mpi.own->doorbell;

    if (!fi_doorbell_prepare(doorbell))
        return false;
    if (message_is_there()) {
        fi_doorbell_cancel(doorbell);
        return false;
    }
    fi_doorbell_wait(doorbell, ns);
    return true;
}

/* Beside an open transfer. */
static bool transfer_wait(int64_t ns)
{
    int64_t nap = transfer_nap();

    if (nap > 0)
        return doorbell_sleep(nap < ns ? nap : ns);
    sched_yield();
    return false;
}

bool fi_mpi_wait(int64_t ns)
{
    if (refused_can_send())
        return false;
    if (transfer_is_open())
        return transfer_wait(ns);
    fi_mpi.has_progressed = true; /* the next transfer begins with yields */
    return doorbell_sleep(ns);
}

/* [any] */
void fi_mpi_ring(void)
{
    fi_doorbell_ring(&fi_mpi.own->doorbell);
}
