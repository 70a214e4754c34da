/* What the machine remembers.  machine.c changes it, arena.c gives it addresses, hash.c tells one state
 * of it from another. */
#ifndef EXPLORE_MEMORY_H
#define EXPLORE_MEMORY_H

#include "explore/machine.h"

#include <stddef.h>

enum { MAX_LOCATIONS = 24, MAX_STORES = 48, MAX_BUFFER = 16, MAX_LATE = 8, MAX_DATA = 8 };
enum { MAX_CLOCKS = 8 }; /* more than threads, so that a view is two vectors wide */

typedef struct view {
    uint8_t seen[MAX_LOCATIONS];
    uint8_t clock[MAX_CLOCKS];
} view;

typedef struct store {
    uint64_t value;
    view carried;
    bool rmw; /* reads the store just before it: nothing can come between */
} store;

/* Clocks of the last plain accesses. */
typedef struct plain {
    uint8_t wrote[MAX_THREADS], read[MAX_THREADS];
} plain;

typedef struct location {
    const void *address;
    const char *name; /* with index, unless that is negative: location_name */
    int index;
    uint8_t stores;
    bool lock; /* only exchanged, so that only its newest store is ever read */
    plain plain;
    store store[MAX_STORES];
} location;

typedef struct late_load {
    uint8_t location, oldest; /* which stores it may still read */
    bool waiting;
    uint64_t value;
} late_load;

typedef struct buffered {
    uint8_t location;
    uint64_t value;
    view carried;
} buffered;

typedef struct machine_thread {
    view cur, acq, rel;
    view lit; /* what it had seen at its last light fence */
    uint8_t lates, buffers;
    uint8_t buffers_lit; /* of the buffered stores: those before that fence */
    late_load late[MAX_LATE];
    buffered buffer[MAX_BUFFER];
} machine_thread;

typedef struct machine {
    const check *check;
    machine_thread thread[MAX_THREADS];
    view fences; /* what the last seq_cst fence had seen */
    view heavy;  /* what all heavy fences had seen */
    uint8_t locations;
    location location[MAX_LOCATIONS];
    plain data[MAX_DATA];
} machine;

extern machine m;

/* machine.c */
location *memory_add(const void *p, uint64_t value, const char *name, int index); /* name stays */
const char *location_name(const location *l); /* until the next call */

void machine_free(const void *low, const void *high); /* all locations in between */

/* arena.c */
void arena_reset(void);
void arena_fail_if_freed(const location *l);
uint64_t arena_hash(uint64_t h);

/* hash.c */
uint64_t mix_bytes(uint64_t h, const void *p, size_t n);

#endif
