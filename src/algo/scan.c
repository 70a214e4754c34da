/* Scans.  Three steps: map each block to a value, accumulate the values serially, write each block
 * with the value of all blocks before it.
 *
 * Each block is read twice.  One worker writes a block directly after it has mapped it.  Several
 * workers process segments of blocks.  A segment goes through these states:
 *
 *     MAPPING    a runner maps its blocks
 *     MAPPED     it waits until the segments before it are accumulated
 *     READY      its blocks have the value of all blocks before them
 *     WRITING    a runner writes its blocks
 *
 * A runner that has mapped a segment accumulates all mapped segments that are next, unless another
 * runner does so.  Then it writes a ready segment and maps a new one.  No runner waits for another
 * one: if no segment is ready, it only maps, and after a few such segments it ends.  The runner
 * that accumulates these segments later also writes them.  Hungry workers get new runners.
 *
 * Blocks are short, and a runner alternates between a block to write and a block to map.  So the
 * processor reads and writes memory at the same time.  The length of a segment depends on the
 * number of workers, but the order of combining does not. */
#include "algo/check.h"

#include <filch/algo.h>
#include <filch/memory.h>
#include <filch/runtime.h>
#include <filch/sync.h>
#include <filch/task.h>

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define BLOCK       128               /* elements, in a long range without a given grain */
#define BLOCKS      256               /* of a short range */
#define IN_SEGMENT  ((size_t)1 << 16) /* elements; 8-byte ones are 512 KiB */
#define SEGMENT_MAX 512               /* blocks of a segment */
#define SEGMENTS    16                /* for each worker, at least, in a long range */
#define AHEAD       4                 /* segments that a runner maps before it writes one */
#define NO_SEGMENT  ((size_t)-1)

typedef enum segment_state { EMPTY, MAPPING, MAPPED, READY, WRITING } segment_state;

typedef struct segment {
    size_t number;
    segment_state state;
} segment;

typedef struct scan {
    void (*map)(size_t lo, size_t hi, void *acc, void *ctx);
    void (*combine)(void *acc, const void *other, void *ctx);
    void (*write)(size_t lo, size_t hi, void *acc, void *ctx);
    void *ctx;
    const void *identity;
    size_t size; /* of a value */
    size_t lo, hi, grain, blocks;
    /* of several workers */
    size_t length;          /* blocks of a segment */
    size_t segments, slots; /* segment i uses slot i modulo slots */
    segment *slot;
    char *values; /* of the blocks of each slot: first of the block, then of all before it */
    /* What runners change is not in a cache line with what they read for each block.  The lines of
     * *result belong to the caller, whose functions may read other data in them. */
    _Alignas(64) filch_mutex lock; /* of the slots and of what follows */
    size_t next_map, next_accumulate;
    size_t first_ready; /* no segment before it is ready */
    bool is_accumulating;
    _Alignas(64) char acc[FILCH_REDUCE_MAX]; /* value of *result and all accumulated blocks */
} scan;

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- blocks ---- */

static size_t block_lo(const scan *s, size_t block)
{
    return s->lo + block * s->grain;
}

static size_t block_hi(const scan *s, size_t block)
{
    return block_lo(s, block) + min_size(s->hi - block_lo(s, block), s->grain);
}

/* Most values are one number. */
static inline void copy_value(const scan *s, void *to, const void *from)
{
    if (s->size == sizeof(double))
        memcpy(to, from, sizeof(double));
    else
        memcpy(to, from, s->size);
}

static void map_block(const scan *s, size_t block, char *value)
{
    copy_value(s, value, s->identity);
    s->map(block_lo(s, block), block_hi(s, block), value, s->ctx);
}

/* Replace the block's value by that of all blocks before it, and add the block to s->acc. */
static void accumulate_block(scan *s, char *value)
{
    _Alignas(64) char before[FILCH_REDUCE_MAX];

    copy_value(s, before, s->acc);
    s->combine(s->acc, value, s->ctx);
    copy_value(s, value, before);
}

static void write_block(const scan *s, size_t block, char *value)
{
    s->write(block_lo(s, block), block_hi(s, block), value, s->ctx);
}

/* The same values, computed by one worker. */
static void scan_serial(scan *s)
{
    _Alignas(64) char value[FILCH_REDUCE_MAX];

    for (size_t block = 0; block < s->blocks; block++) {
        map_block(s, block, value);
        accumulate_block(s, value);
        write_block(s, block, value);
    }
}

/* ---- segments ---- */

static size_t segment_blocks(const scan *s, size_t number)
{
    return number == NO_SEGMENT ? 0 : min_size(s->blocks - number * s->length, s->length);
}

static segment *segment_slot(const scan *s, size_t number)
{
    return &s->slot[number % s->slots];
}

static char *segment_value(const scan *s, size_t number, size_t i)
{
    return s->values + (number % s->slots * s->length + i) * s->size;
}

static void accumulate_segment(scan *s, size_t number)
{
    for (size_t i = 0; i < segment_blocks(s, number); i++)
        accumulate_block(s, segment_value(s, number, i));
}

static void write_and_map_segments(const scan *s, size_t to_write, size_t to_map)
{
    size_t n_write = segment_blocks(s, to_write), n_map = segment_blocks(s, to_map);

    for (size_t i = 0; i < n_write || i < n_map; i++) {
        if (i < n_write)
            write_block(s, to_write * s->length + i, segment_value(s, to_write, i));
        if (i < n_map)
            map_block(s, to_map * s->length + i, segment_value(s, to_map, i));
    }
}

static bool is_state(const scan *s, size_t number, segment_state state)
{
    const segment *slot = segment_slot(s, number);

    return slot->number == number && slot->state == state;
}

/* ---- runners; these functions hold the lock ---- */

typedef struct runner {
    size_t to_write, to_map;
    size_t mapped[AHEAD]; /* but not written by this runner, in order */
    size_t n_mapped;
} runner;

static void runner_forget_first(runner *r)
{
    r->n_mapped--;
    memmove(r->mapped, r->mapped + 1, r->n_mapped * sizeof *r->mapped);
}

/* The segments of the runner's last step have their next state. */
static void runner_end_step(scan *s, runner *r)
{
    if (r->to_write != NO_SEGMENT)
        segment_slot(s, r->to_write)->state = EMPTY;
    if (r->to_map == NO_SEGMENT)
        return;
    segment_slot(s, r->to_map)->state = MAPPED;
    r->mapped[r->n_mapped++] = r->to_map;
}

/* Without the lock meanwhile, because combine is a function of the caller. */
static void accumulate_mapped(scan *s)
{
    if (s->is_accumulating)
        return;
    s->is_accumulating = true;
    while (is_state(s, s->next_accumulate, MAPPED)) {
        filch_mutex_unlock(&s->lock);
        accumulate_segment(s, s->next_accumulate);
        filch_mutex_lock(&s->lock);
        segment_slot(s, s->next_accumulate++)->state = READY;
    }
    s->is_accumulating = false;
}

/* The first ready segment that this runner has mapped, because it is in the runner's cache, or the
 * first one of all. */
static size_t choose_ready(scan *s, runner *r)
{
    while (r->n_mapped > 0) {
        size_t own = r->mapped[0];

        if (is_state(s, own, MAPPED))
            break;
        runner_forget_first(r);
        if (is_state(s, own, READY))
            return own;
    }
    for (; s->first_ready < s->next_accumulate; s->first_ready++)
        if (is_state(s, s->first_ready, READY))
            return s->first_ready;
    return NO_SEGMENT;
}

static size_t choose_unmapped(const scan *s, const runner *r)
{
    if (s->next_map == s->segments || r->n_mapped == AHEAD ||
        segment_slot(s, s->next_map)->state != EMPTY)
        return NO_SEGMENT;
    return s->next_map;
}

/* Returns: false if there is nothing to do. */
static bool runner_begin_step(scan *s, runner *r)
{
    r->to_write = choose_ready(s, r);
    if (r->to_write != NO_SEGMENT)
        segment_slot(s, r->to_write)->state = WRITING;
    r->to_map = choose_unmapped(s, r);
    if (r->to_map != NO_SEGMENT)
        *segment_slot(s, s->next_map++) = (segment){r->to_map, MAPPING};
    return r->to_write != NO_SEGMENT || r->to_map != NO_SEGMENT;
}

/* ---- without the lock ---- */

static bool runner_next_step(scan *s, runner *r)
{
    bool has_step;

    filch_mutex_lock(&s->lock);
    runner_end_step(s, r);
    accumulate_mapped(s);
    has_step = runner_begin_step(s, r);
    filch_mutex_unlock(&s->lock);
    return has_step;
}

FILCH_VOID_TASK(run_segments, scan *, s)
{
    runner r = {.to_write = NO_SEGMENT, .to_map = NO_SEGMENT};
    int spawned = 0;

    while (runner_next_step(s, &r)) {
        if (FILCH_HUNGRY()) {
            FILCH_SPAWN(run_segments, s);
            spawned++;
        }
        write_and_map_segments(s, r.to_write, r.to_map);
    }
    for (; spawned > 0; spawned--)
        FILCH_SYNC(run_segments);
}

static size_t choose_length(const scan *s, size_t workers)
{
    size_t length = min_size(IN_SEGMENT / s->grain, SEGMENT_MAX);

    length = min_size(length, s->blocks / SEGMENTS / workers);
    return length > 0 ? length : 1;
}

/* Values start at a multiple of 64 bytes. */
static size_t slots_bytes(const scan *s)
{
    return (s->slots * sizeof(segment) + 63) / 64 * 64;
}

static size_t segments_bytes(const scan *s)
{
    return slots_bytes(s) + s->slots * s->length * s->size;
}

/* Returns: false if there is no memory. */
static bool segments_init(scan *s, size_t workers)
{
    s->length = choose_length(s, workers);
    s->segments = (s->blocks - 1) / s->length + 1;
    s->slots = min_size(s->segments, (AHEAD + 1) * workers);
    s->slot = filch_alloc(segments_bytes(s));
    if (!s->slot)
        return false;
    s->values = (char *)s->slot + slots_bytes(s);
    for (size_t i = 0; i < s->slots; i++)
        s->slot[i] = (segment){NO_SEGMENT, EMPTY};
    return true;
}

FILCH_VOID_TASK(scan_all, scan *, s)
{
    size_t workers = filch_worker_count();

    if (workers <= 1 || !segments_init(s, workers)) {
        scan_serial(s);
        return;
    }
    FILCH_CALL(run_segments, s);
    filch_free(s->slot, segments_bytes(s));
}

static size_t choose_grain(size_t n)
{
    return n / BLOCKS < BLOCK ? n / BLOCKS + 1 : BLOCK;
}

int filch_scan(size_t lo, size_t hi, size_t grain, void *result, const void *identity, size_t size,
               void (*map)(size_t lo, size_t hi, void *acc, void *ctx),
               void (*combine)(void *acc, const void *other, void *ctx),
               void (*write)(size_t lo, size_t hi, void *acc, void *ctx), void *ctx)
{
    scan s = {.map = map,
              .combine = combine,
              .write = write,
              .ctx = ctx,
              .identity = identity,
              .size = size,
              .lo = lo,
              .hi = hi,
              .grain = grain};

    if (fi_check_values("filch_scan", result, identity, size) < 0 ||
        fi_check_function("filch_scan", "map", map) < 0 ||
        fi_check_function("filch_scan", "combine", combine) < 0 ||
        fi_check_function("filch_scan", "write", write) < 0)
        return -EINVAL;
    if (hi <= lo)
        return 0;
    if (grain == 0)
        s.grain = choose_grain(hi - lo);
    s.blocks = (hi - lo - 1) / s.grain + 1;
    memcpy(s.acc, result, size);
    FILCH_RUN(scan_all, &s);
    memcpy(result, s.acc, size);
    return 0;
}
