/* The events of the simulation: a heap, earliest first.  Events of the same time come out in the
 * order in which they were pushed. */
#ifndef FI_SIM_EVENT_H
#define FI_SIM_EVENT_H

#include "protocol/message.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum fi_event_kind {
    FI_EVENT_ENTER,  /* the rank begins the next run */
    FI_EVENT_BLOCK,  /* its lane has processed a block of items */
    FI_EVENT_ARRIVE, /* a message has arrived */
    FI_EVENT_WAKE,   /* its communication thread has woken up */
    FI_EVENT_TIMER,  /* a deadline of the protocol */
    FI_EVENT_BEAT,   /* once a second */
} fi_event_kind;

typedef struct fi_event {
    int64_t at;
    uint64_t number; /* set by push */
    fi_packet *packet;
    uint32_t rank;
    uint32_t kind;
} fi_event;

typedef struct fi_events {
    fi_event *heap;
    size_t n, capacity;
    uint64_t pushes;
} fi_events;

/* False: there is no memory. */
bool fi_events_push(fi_events *e, fi_event event);
/* There is at least one. */
fi_event fi_events_pop(fi_events *e);
/* Frees the packets, too. */
void fi_events_free(fi_events *e);

#endif
