/* What the files of the MPI plugin share: mpi.c (open, close, stop), mpi_node.c (doorbells of the
 * node), mpi_messages.c (send, poll) and mpi_wait.c (wait, ring).
 *
 * The communication thread makes all MPI calls, so MPI_THREAD_FUNNELED is enough.  No call blocks
 * between open and close: a rank that is stopped must not stop the others.  Therefore all sends are
 * MPI_Isend, and all receives are MPI_Irecv: no message is certain to arrive in one piece.
 *
 * MPI has no file descriptor to sleep on.  The ranks of a node share memory with a doorbell for
 * each of them, and the sender of a message rings the doorbell of the receiver.  A message may
 * become visible after its ring, if MPI queues it in the sender or sends it through a socket.
 * So each rank also counts the messages that were sent to it on its node.  It sleeps long only
 * if it has received as many. */
#ifndef FI_CLUSTER_MPI_NET_H
#define FI_CLUSTER_MPI_NET_H

#include "transport/doorbell.h"
#include "transport/transport.h"

#include <mpi.h>

enum { FI_MPI_MAX_REQUESTS = 64, FI_MPI_TAG = 0 };

/* The memory of one rank that the ranks of its node share. */
typedef struct fi_mpi_near {
    FI_CACHE_ALIGNED fi_doorbell doorbell;
    FI_ATOMIC(uint32_t) sent; /* messages from ranks of the node, including those under way */
} fi_mpi_near;

/* Open sends or receives.  MPI tests them as one array. */
typedef struct fi_mpi_requests {
    int n;
    MPI_Request request[FI_MPI_MAX_REQUESTS];
    fi_packet *packet[FI_MPI_MAX_REQUESTS];
    unsigned peer[FI_MPI_MAX_REQUESTS];
} fi_mpi_requests;

typedef struct fi_mpi_net {
    MPI_Comm comm;       /* all ranks */
    fi_mpi_near **lines; /* of the ranks of this node, in the order of place.near */
    fi_mpi_near *own;
    bool has_doorbells;     /* otherwise all messages are noticed by polling */
    uint32_t near_received; /* messages from ranks of the node */
    fi_place place;
    unsigned *near;
    pid_t *pids;

    fi_mpi_requests sends, receives;
    fi_packet *arrived, **arrived_end; /* complete messages, oldest first */

    bool is_refused;     /* a send was refused since the last wait */
    bool has_progressed; /* a message was sent or received since the last wait */
    int error;           /* -EIO after the first failed MPI call */
} fi_mpi_net;

extern fi_mpi_net fi_mpi; /* zeros before open */

/* MPI_SUCCESS: 0.  Other results of an MPI call: report a line, and return -EIO now and from each
 * later poll. */
int fi_mpi_result(const char *call, int e);

/* Wait for a collective call that returned e, without using a CPU.  Returns 0; -EIO and a text. */
int fi_mpi_await(int e, MPI_Request *request, const char **why);

/* mpi_node.c: collective.  Fill in place.near, .pids and .is_polled. */
int fi_mpi_node_open(const char **why);
void fi_mpi_node_close(void);

/* mpi_messages.c */
int fi_mpi_send(unsigned to, fi_packet *p);
fi_packet *fi_mpi_poll(int *error);
int fi_mpi_sends_test(void); /* free the packets of completed sends */

/* mpi_wait.c */
bool fi_mpi_wait(int64_t ns);
void fi_mpi_ring(void);

#endif
