#include "run/sends.h"

#include <errno.h>
#include <stdlib.h>

enum { CAPACITY_MIN = 64 };

static bool ring_grow(fi_sends *s)
{
    unsigned capacity = s->capacity ? 2 * s->capacity : CAPACITY_MIN;
    fi_send *ring = malloc(capacity * sizeof *ring);

    if (!ring)
        return false;
    for (unsigned i = 0; i < s->n; i++)
        ring[i] = s->ring[(s->first + i) & (s->capacity - 1)];
    free(s->ring);
    s->ring = ring;
    s->capacity = capacity;
    s->first = 0;
    return true;
}

static int ring_push(fi_sends *s, unsigned to, fi_packet *p)
{
    if (s->n == s->capacity && !ring_grow(s)) {
        fi_packet_free(p);
        return -ENOMEM;
    }
    s->ring[(s->first + s->n++) & (s->capacity - 1)] = (fi_send){to, p};
    return 0;
}

int fi_sends_push(fi_sends *s, unsigned to, fi_packet *p)
{
    int e = s->n > 0 ? -EAGAIN : s->net->send(to, p);

    if (e == -EAGAIN)
        return ring_push(s, to, p);
    if (e < 0)
        fi_packet_free(p);
    return e;
}

int fi_sends_flush(fi_sends *s)
{
    while (s->n > 0) {
        fi_send next = s->ring[s->first];
        int e = s->net->send(next.to, next.packet);

        if (e < 0)
            return e == -EAGAIN ? 0 : e;
        s->first = (s->first + 1) & (s->capacity - 1);
        s->n--;
    }
    return 0;
}

void fi_sends_fini(fi_sends *s)
{
    for (unsigned i = 0; i < s->n; i++)
        fi_packet_free(s->ring[(s->first + i) & (s->capacity - 1)].packet);
    free(s->ring);
    *s = (fi_sends){0};
}
