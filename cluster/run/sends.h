/* Messages on their way to the transport.  The transport refuses a message while too many sends are
 * open.  The message then waits here, and later messages wait behind it. */
#ifndef FI_CLUSTER_SENDS_H
#define FI_CLUSTER_SENDS_H

#include "transport/transport.h"

typedef struct fi_send {
    unsigned to;
    fi_packet *packet;
} fi_send;

/* A ring, oldest first.  Zeros: empty. */
typedef struct fi_sends {
    const fi_transport *net;
    fi_send *ring;
    unsigned first, n, capacity; /* capacity is a power of 2, or 0 */
} fi_sends;

/* Send p, now or later.  Takes p.
 * Returns 0; -ENOMEM, -EMSGSIZE or -EIO: p was not sent. */
int fi_sends_push(fi_sends *s, unsigned to, fi_packet *p);

/* Send what waits, as far as the transport takes it.  Returns 0 or -errno, as above. */
int fi_sends_flush(fi_sends *s);

/* Free what waits. */
void fi_sends_fini(fi_sends *s);

#endif
