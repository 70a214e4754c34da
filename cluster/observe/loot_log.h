/* A log of the loots that a rank has sent and opened, for the merged trace.  The communication
 * thread appends to it while tracing is on. */
#ifndef FI_CLUSTER_LOOT_LOG_H
#define FI_CLUSTER_LOOT_LOG_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum { FI_LOOT_LOG_MAX = 1 << 20 }; /* entries: 32 MiB */

/* One end of the way of a loot.  Plain bytes: the entries travel to rank 0 as they are. */
typedef struct fi_loot {
    int64_t ns;      /* filch_now() when it was sent or opened */
    uint64_t number; /* the sender's count of sent loots; sender and number identify a loot */
    uint64_t bytes;
    uint32_t peer;   /* the receiver of a sent loot, the sender of an opened one */
    uint16_t kind;   /* FI_LOOT or FI_GIFT */
    uint16_t is_out; /* 1: sent; 0: opened */
} fi_loot;

static_assert(sizeof(fi_loot) == 32, "a piece of 1 MiB has no partial entry");

/* Zeros: an empty log. */
typedef struct fi_loot_log {
    fi_loot *entries;
    size_t n, capacity;
    uint64_t dropped; /* entries that had no memory, or were more than FI_LOOT_LOG_MAX */
} fi_loot_log;

void fi_loot_log_init(fi_loot_log *log);

/* [communication thread] */
void fi_loot_log_append(fi_loot_log *log, const fi_loot *entry);

/* Free the entries.  The log is empty then. */
void fi_loot_log_fini(fi_loot_log *log);

#endif
