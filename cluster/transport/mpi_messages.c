/* Messages over MPI: send, receive, and the requests that are open. */
#include "transport/mpi_net.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* ---- ranks of the same node ---- */

static int rank_compare(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

/* NULL: the rank is on another node, or there are no doorbells. */
static fi_mpi_near *near_of(unsigned rank)
{
    const unsigned *at;

    if (!fi_mpi.has_doorbells)
        return NULL;
    if (fi_mpi.place.n_near == fi_mpi.place.ranks)
        return fi_mpi.lines[rank];
    at = bsearch(&rank, fi_mpi.near, fi_mpi.place.n_near, sizeof rank, rank_compare);
    return at ? fi_mpi.lines[at - fi_mpi.near] : NULL;
}

/* Relaxed: the ring that follows publishes the count. */
static void near_count_sent(fi_mpi_near *line)
{
    if (line)
        (void)fi_fetch_add_relaxed(&line->sent, 1u);
}

static void near_ring(fi_mpi_near *line)
{
    if (line)
        fi_doorbell_ring(&line->doorbell);
}

static void near_count_received(unsigned from)
{
    if (near_of(from))
        fi_mpi.near_received++;
}

/* ---- open requests ---- */

static bool requests_are_full(const fi_mpi_requests *list)
{
    return list->n == FI_MPI_MAX_REQUESTS;
}

static void requests_push(fi_mpi_requests *list, MPI_Request request, fi_packet *p, unsigned peer)
{
    list->request[list->n] = request;
    list->packet[list->n] = p;
    list->peer[list->n] = peer;
    list->n++;
}

/* Remove completed requests.  Their order does not matter to MPI. */
static void requests_compact(fi_mpi_requests *list)
{
    int n = 0;

    for (int i = 0; i < list->n; i++) {
        if (list->request[i] == MPI_REQUEST_NULL)
            continue;
        list->request[n] = list->request[i];
        list->packet[n] = list->packet[i];
        list->peer[n] = list->peer[i];
        n++;
    }
    list->n = n;
}

/* Call done for each completed request. */
static int requests_test(fi_mpi_requests *list, int (*done)(fi_packet *p, unsigned peer))
{
    int n = 0, index[FI_MPI_MAX_REQUESTS];
    MPI_Status ignored[FI_MPI_MAX_REQUESTS]; /* gcc warns about MPICH's MPI_STATUSES_IGNORE */
    int e = MPI_Testsome(list->n, list->request, &n, index, ignored);

    e = fi_mpi_result("MPI_Testsome", e);
    if (e < 0 || n <= 0)
        return e;
    for (int i = 0; i < n; i++) {
        int r = done(list->packet[index[i]], list->peer[index[i]]);
        e = e < 0 ? e : r;
    }
    requests_compact(list);
    fi_mpi.has_progressed = true;
    return e;
}

/* After an error the request counts as open.  The next poll returns the error. */
static bool request_is_complete(MPI_Request *request)
{
    int done = 0;
    int e = fi_mpi_result("MPI_Test", MPI_Test(request, &done, MPI_STATUS_IGNORE));

    return e == 0 && done;
}

/* ---- sending ---- */

/* The receiver may have consumed the first ring before it could see the message. */
static int send_done(fi_packet *p, unsigned to)
{
    fi_packet_free(p);
    near_ring(near_of(to));
    return 0;
}

int fi_mpi_sends_test(void)
{
    return fi_mpi.sends.n > 0 ? requests_test(&fi_mpi.sends, send_done) : 0;
}

/* Most small sends are complete at once. */
static void send_finish(unsigned to, fi_packet *p, MPI_Request request)
{
    if (request_is_complete(&request))
        fi_packet_free(p);
    else
        requests_push(&fi_mpi.sends, request, p, to);
}

int fi_mpi_send(unsigned to, fi_packet *p)
{
    fi_mpi_near *line = near_of(to);
    MPI_Request request;
    int e;

    assert(to != fi_mpi.place.rank && to < fi_mpi.place.ranks);
    if (fi_packet_bytes(p) > INT_MAX)
        return -EMSGSIZE;
    if (requests_are_full(&fi_mpi.sends)) {
        fi_mpi.is_refused = true;
        return -EAGAIN;
    }
    e = MPI_Isend(&p->head, (int)fi_packet_bytes(p), MPI_BYTE, (int)to, FI_MPI_TAG, fi_mpi.comm,
                  &request);
    if (e != MPI_SUCCESS)
        return fi_mpi_result("MPI_Isend", e);
    near_count_sent(line);
    near_ring(line);
    fi_mpi.has_progressed = true;
    send_finish(to, p, request);
    return 0;
}

/* ---- receiving ---- */

static bool kind_is_known(unsigned kind)
{
    return kind > 0 && kind < FI_KINDS;
}

static int arrived_push(fi_packet *p, unsigned from)
{
    (void)from;
    if (!kind_is_known(p->head.kind)) {
        fi_packet_free(p);
        return -EPROTO;
    }
    p->next = NULL;
    *fi_mpi.arrived_end = p;
    fi_mpi.arrived_end = &p->next;
    return 0;
}

static fi_packet *arrived_pop(void)
{
    fi_packet *p = fi_mpi.arrived;

    if (!p)
        return NULL;
    fi_mpi.arrived = p->next;
    if (!fi_mpi.arrived)
        fi_mpi.arrived_end = &fi_mpi.arrived;
    p->next = NULL;
    return p;
}

static int receives_test(void)
{
    return fi_mpi.receives.n > 0 ? requests_test(&fi_mpi.receives, arrived_push) : 0;
}

/* One thread receives, so a receive from the sender of the probed message matches that message.
 * MPI_Improbe guarantees the same to several threads.  In Open MPI it takes 40 % longer to find
 * nothing. */
static int message_receive(fi_packet *p, unsigned from)
{
    MPI_Request request;
    int e = MPI_Irecv(&p->head, (int)fi_packet_bytes(p), MPI_BYTE, (int)from, FI_MPI_TAG,
                      fi_mpi.comm, &request);

    if (e != MPI_SUCCESS) {
        fi_packet_free(p);
        return fi_mpi_result("MPI_Irecv", e);
    }
    fi_mpi.has_progressed = true;
    near_count_received(from);
    if (request_is_complete(&request))
        return arrived_push(p, from);
    requests_push(&fi_mpi.receives, request, p, from);
    return 0;
}

/* Start to receive the next message, if one has begun to arrive.  A small one is complete at once
 * in most cases.  Without memory the message stays with MPI. */
static int message_accept(void)
{
    MPI_Status status;
    int flag = 0, n = 0, e;
    fi_packet *p;

    e = MPI_Iprobe(MPI_ANY_SOURCE, FI_MPI_TAG, fi_mpi.comm, &flag, &status);
    if (e != MPI_SUCCESS || !flag)
        return fi_mpi_result("MPI_Iprobe", e);
    e = fi_mpi_result("MPI_Get_count", MPI_Get_count(&status, MPI_BYTE, &n));
    if (e < 0)
        return e;
    if (n < (int)sizeof(fi_header))
        return -EPROTO;
    p = fi_packet_new((size_t)n - sizeof(fi_header));
    return p ? message_receive(p, (unsigned)status.MPI_SOURCE) : -ENOMEM;
}

fi_packet *fi_mpi_poll(int *error)
{
    int e = fi_mpi.error;

    if (e == 0)
        e = fi_mpi_sends_test();
    if (e == 0)
        e = receives_test();
    if (e == 0 && !fi_mpi.arrived && !requests_are_full(&fi_mpi.receives))
        e = message_accept();
    *error = e;
    return e < 0 ? NULL : arrived_pop();
}
