/* The transport of a single rank, without a network. */
#include "transport/doorbell.h"
#include "transport/transport.h"

#include <errno.h>
#include <unistd.h>

static fi_doorbell doorbell;

static int one_open(const fi_transport_config *config, fi_place *place, const char **why)
{
    static const unsigned near[1] = {0};
    static pid_t pids[1];

    (void)config, (void)why;
    pids[0] = getpid();
    fi_atomic_init(&doorbell, FI_DOORBELL_AWAKE);
    *place = (fi_place){.rank = 0, .ranks = 1, .n_near = 1, .near = near, .pids = pids};
    return 0;
}

static int one_send(unsigned to, fi_packet *p)
{
    (void)to, (void)p;
    assert(false); /* there is no other rank */
    return -EINVAL;
}

static fi_packet *one_poll(int *error)
{
    *error = 0;
    return NULL;
}

static bool one_wait(int64_t ns)
{
    if (!fi_doorbell_prepare(&doorbell))
        return false;
    fi_doorbell_wait(&doorbell, ns);
    return true;
}

/* [any] */
static void one_ring(void)
{
    fi_doorbell_ring(&doorbell);
}

/* As MPI_Abort: without the atexit handlers, which belong to the main thread. */
__attribute__((noreturn)) static void one_stop(int status)
{
    _exit(status);
}

static void one_close(void)
{
}

const fi_transport fi_transport_one = {
    .version = FI_TRANSPORT_VERSION,
    .name = "one",
    .open = one_open,
    .send = one_send,
    .poll = one_poll,
    .wait = one_wait,
    .ring = one_ring,
    .stop = one_stop,
    .close = one_close,
};
