/* Messages between ranks.  A message is a header of 32 bytes and, for some kinds, a body. */
#ifndef FI_CLUSTER_MESSAGE_H
#define FI_CLUSTER_MESSAGE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

typedef enum fi_kind {
    /* Stealing.  Each ASK and each LIFE is a question.  One LOOT or one NO answers it. */
    FI_ASK = 1, /* a hungry rank asks a random rank for work */
    FI_LIFE,    /* a hungry rank asks a lifeline, which remembers it if it has no work now */
    FI_NO,      /* the asked rank has no work to give */
    FI_LOOT,    /* packed work, in answer to a question; a: its number, for traces */
    FI_GIFT,    /* the same for a remembered rank, which has no question open for it */

    /* The end of a run (termination.c). */
    FI_WAVE,  /* down the tree: count when you are passive; a: the number of the wave */
    FI_COUNT, /* up the tree: a, b: sums of the loots sent and opened by the subtree */
    FI_END,   /* down the tree: no work is left */
    FI_DONE,  /* up the tree: a: result; body: accumulator of the subtree */
    FI_LEAVE, /* down the tree: a: result; body: accumulator of all ranks */
    FI_STOP,  /* along the tree: drop all work that has not begun; a: result */

    /* Between the runs, too.  The protocol of a run does not see these kinds. */
    FI_BEAT,  /* to the neighbours in the tree: the sender is alive */
    FI_QUERY, /* rank 0 asks for counters or for a piece of a trace (run/gather.h) */
    FI_REPLY,
    FI_KINDS,
} fi_kind;

typedef struct fi_header {
    uint16_t kind;
    uint16_t spare;
    uint32_t run;  /* number of the run */
    uint32_t call; /* hash of the collective call: all ranks must make the same one */
    uint32_t from; /* the sender's rank */
    uint64_t a, b; /* see fi_kind */
} fi_header;

static_assert(sizeof(fi_header) == 32, "the header has no padding");

/* A message in memory.  The bytes that travel start at head and end with the body. */
typedef struct fi_packet {
    struct fi_packet *next; /* for the owner of the packet */
    size_t size;            /* of the body */
    fi_header head;
    unsigned char body[];
} fi_packet;

static_assert(offsetof(fi_packet, body) == offsetof(fi_packet, head) + sizeof(fi_header),
              "header and body are one piece of memory");

/* The bytes that travel. */
static inline size_t fi_packet_bytes(const fi_packet *p)
{
    return sizeof(fi_header) + p->size;
}

/* Allocate with malloc.  NULL: there is no memory. */
fi_packet *fi_packet_new(size_t size);
void fi_packet_free(fi_packet *p);

const char *fi_kind_name(unsigned kind);

#endif
