/* Draws the loots of all ranks into a trace: a short slice where a loot is sent and where it is
 * opened, and an arrow between the two. */
#ifndef FI_CLUSTER_LOOT_ARROWS_H
#define FI_CLUSTER_LOOT_ARROWS_H

#include "observe/event_file.h"
#include "observe/loot_log.h"

enum { FI_LOOT_ARROWS_MAX = 1 << 22 }; /* entries of all ranks: 160 MiB */

typedef struct fi_loot_end fi_loot_end;

/* Zeros: none. */
typedef struct fi_loot_arrows {
    fi_loot_end *ends;
    size_t n, capacity;
    uint64_t dropped; /* entries that had no memory, or were more than FI_LOOT_ARROWS_MAX */
    uint64_t arrows;  /* drawn */
} fi_loot_arrows;

/* Add an entry of a rank's log.  ns: its time in the trace. */
void fi_loot_arrows_add(fi_loot_arrows *a, unsigned rank, const fi_loot *loot, int64_t ns);

/* Write the events of all entries. */
void fi_loot_arrows_draw(fi_loot_arrows *a, fi_event_file *out);

void fi_loot_arrows_fini(fi_loot_arrows *a);

#endif
