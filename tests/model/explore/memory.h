/* The state of the machine, and the functions that its files share.
 *
 *   machine.c       start of a check, of an execution, and the join of threads
 *   location.c      the atomics of the check, by address
 *   order.c         the memory order that an operation has in this check
 *   race.c          plain accesses and data races
 *   load.c          loads
 *   late_load.c     loads of items that happen late (imm)
 *   store.c         stores and their position in the modification order
 *   store_buffer.c  stores that have not reached memory yet (tso)
 *   rmw.c           compare-and-swap, exchange and add
 *   fence.c         fences
 *   sole_writer.c   locations that only one thread writes (tso)
 *   arena.c         memory that the check allocates
 *   hash.c          a hash of the whole state
 */
#ifndef EXPLORE_MEMORY_H
#define EXPLORE_MEMORY_H

#include "explore/machine.h"

#include <stddef.h>

enum { MAX_LOCATIONS = 24, MAX_STORES = 48, MAX_BUFFER = 16, MAX_LATE = 8, MAX_DATA = 8 };
enum { MAX_CLOCKS = 8 }; /* more than threads, so that a view is two vectors wide */

/* Per location the newest store that is known, and per thread its clock at the last
 * synchronisation. */
typedef struct view {
    uint8_t seen[MAX_LOCATIONS];
    uint8_t clock[MAX_CLOCKS];
} view;

typedef struct store {
    uint64_t value;
    view carried;
    bool rmw; /* reads the store directly before it: none can be inserted between */
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
    uint8_t location, oldest; /* the oldest store that it may still read */
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

/* ---- views ---- */

/* The explorer spends most of its time here.  Both halves of a view are bytes, so that a few vector
 * instructions do it. */
static inline void view_join(view *restrict into, const view *restrict from)
{
    uint8_t *a = (uint8_t *)into;
    const uint8_t *b = (const uint8_t *)from;
    for (size_t i = 0; i < sizeof *into; i++)
        a[i] = a[i] < b[i] ? b[i] : a[i];
}

static inline machine_thread *self(void)
{
    return &m.thread[search_self()];
}

static inline void see(machine_thread *t, int l, uint8_t position)
{
    t->cur.seen[l] = position;
    if (t->acq.seen[l] < position)
        t->acq.seen[l] = position;
}

/* Advance the clock of a thread after an action that others can order themselves after. */
static inline void tick(machine_thread *t)
{
    if (t->cur.clock[t - m.thread] == UINT8_MAX)
        x_fail(LIMIT, "the explorer's clocks are too small");
    uint8_t now = ++t->cur.clock[t - m.thread];
    t->acq.clock[t - m.thread] = now;
}

/* location.c */
location *location_add(const void *p, uint64_t value, const char *name, int index); /* name stays */
int location_find(const void *p);
const char *location_name(const location *l); /* until the next call */

/* order.c */
void order_new_check(void);
order order_of(site *s);
order order_among(site *s, order a, order b, order c); /* fails if it is none of these */
void order_refuse(const site *s, order o) __attribute__((noreturn));

static inline bool acquires(order o)
{
    return o == ORDER_ACQUIRE || o == ORDER_ACQ_REL || o == ORDER_SEQ_CST || o == ORDER_RMW;
}

static inline bool releases(order o)
{
    return o == ORDER_RELEASE || o == ORDER_ACQ_REL || o == ORDER_SEQ_CST || o == ORDER_RMW;
}

/* race.c */
void plain_access(plain *p, bool write, const char *what);
void atomic_access(int l);
void machine_free(const void *low, const void *high); /* all locations in between */

/* load.c */
uint8_t oldest_readable(const machine_thread *t, int l);
const store *read_at(machine_thread *t, int l, uint8_t position, order o);

/* late_load.c */
void *load_late(int l, site *s);
void settle_all(machine_thread *t);
void settle_location(machine_thread *t, int l);

/* store.c */
bool may_insert(const location *l, int position);
void write_at(machine_thread *t, int l, uint8_t position, uint64_t value, view carried, bool rmw);
store *store_insert(int l, uint8_t position);

/* store_buffer.c */
void buffer_store(machine_thread *t, int l, uint64_t value, view carried);
const buffered *newest_buffered(const machine_thread *t, int l);
void flush_lit(int thread);

/* sole_writer.c */
void sole_writer_reset(void);
void sole_writer_keep(void);
void note_writer(int l);
bool is_sole_writer(int l);

/* arena.c */
void arena_reset(void);
void arena_keep(void);
void arena_copy(void (*copy)(void *p, size_t n));
void arena_fail_if_freed(const location *l);
uint64_t arena_hash(uint64_t h);

/* hash.c */
uint64_t mix_bytes(uint64_t h, const void *p, size_t n);

#endif
