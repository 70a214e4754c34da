/* Pools of items as bags: filch_cluster_pool.
 *
 * A pool is an array of records, oldest first.  The lane pushes and pops at the new end.  Others
 * take every second record from the old end, so both sides keep old items, which stand for more
 * work in a tree search.
 *
 *     items of one size         the item, padded to 8 bytes
 *     items of different sizes  8 bytes with the size, the item, padding, 8 bytes with the size
 *
 * The packed form of a pool is its records. */
#include "report.h"
#include "run/run.h"

#include <errno.h>
#include <filch/cluster.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_MIN = 4096, WORD = sizeof(uint64_t), ALIGNMENT = 16 };

typedef struct pool_call {
    const filch_pool_type *type;
    void *ctx;
} pool_call;

struct filch_pool {
    pthread_spinlock_t lock; /* protects the records */
    unsigned char *bytes;
    size_t begin, end, capacity; /* the records are bytes[begin] to bytes[end - 1] */
    size_t n;
    const pool_call *call;

    /* Used by the lane alone. */
    unsigned char *item; /* the item that is being handled */
    size_t item_capacity;
    fi_lane *lane; /* NULL: no handler runs */
};

/* The holder needs the lock for a short time, unless the kernel has preempted it. */
static void pool_lock(filch_pool *pool)
{
    while (pthread_spin_trylock(&pool->lock) != 0)
        sched_yield();
}

static void pool_unlock(filch_pool *pool)
{
    pthread_spin_unlock(&pool->lock);
}

/* ---- records ---- */

static size_t padded(size_t size)
{
    return (size + WORD - 1) & ~(size_t)(WORD - 1);
}

static size_t record_bytes(const filch_pool *pool, size_t item_size)
{
    size_t fixed = pool->call->type->item_size;

    return fixed ? padded(fixed) : padded(item_size) + 2 * (size_t)WORD;
}

static size_t size_word(const unsigned char *at)
{
    uint64_t size;

    memcpy(&size, at, sizeof size);
    return (size_t)size;
}

/* The bytes of the record that begins here. */
static size_t record_first(const filch_pool *pool, const unsigned char *at)
{
    return record_bytes(pool, pool->call->type->item_size ? 0 : size_word(at));
}

static void record_write(const filch_pool *pool, unsigned char *to, const void *item, size_t size)
{
    uint64_t word = size;

    if (pool->call->type->item_size == 0) {
        memcpy(to, &word, WORD);
        memcpy(to + padded(size) + WORD, &word, WORD);
        to += WORD;
    }
    if (size > 0)
        memcpy(to, item, size);
}

/* [locked] Make space for more bytes at the new end. */
static bool pool_reserve(filch_pool *pool, size_t more)
{
    size_t used = pool->end - pool->begin, capacity = pool->capacity;
    unsigned char *bytes;

    if (pool->end + more <= pool->capacity)
        return true;
    if (pool->begin > 0) {
        memmove(pool->bytes, pool->bytes + pool->begin, used);
        pool->begin = 0;
        pool->end = used;
    }
    if (capacity == 0)
        capacity = CAPACITY_MIN;
    while (capacity < 2 * (used + more))
        capacity *= 2;
    if (capacity == pool->capacity)
        return true;
    bytes = realloc(pool->bytes, capacity);
    if (!bytes)
        return false;
    pool->bytes = bytes;
    pool->capacity = capacity;
    return true;
}

static int pool_append(filch_pool *pool, const void *item, size_t size)
{
    size_t bytes = record_bytes(pool, size);
    bool fits;

    pool_lock(pool);
    fits = pool_reserve(pool, bytes);
    if (fits) {
        record_write(pool, pool->bytes + pool->end, item, size);
        pool->end += bytes;
        pool->n++;
    }
    pool_unlock(pool);
    return fits ? 0 : -ENOMEM;
}

/* ---- bag ---- */

static void *pool_make(void *ctx)
{
    filch_pool *pool = malloc(sizeof *pool);

    if (pool) {
        *pool = (filch_pool){.call = ctx};
        pthread_spin_init(&pool->lock, PTHREAD_PROCESS_PRIVATE);
    }
    return pool;
}

static void pool_drop(void *bag, void *ctx)
{
    filch_pool *pool = bag;

    (void)ctx;
    pthread_spin_destroy(&pool->lock);
    free(pool->bytes);
    free(pool->item);
    free(pool);
}

/* [locked] The handler may push, which moves the records, so it gets a copy. */
static bool item_reserve(filch_pool *pool, size_t size)
{
    size_t capacity = (size + ALIGNMENT) & ~(size_t)(ALIGNMENT - 1);

    if (size < pool->item_capacity)
        return true;
    free(pool->item);
    pool->item = aligned_alloc(ALIGNMENT, capacity);
    pool->item_capacity = pool->item ? capacity : 0;
    return pool->item != NULL;
}

/* Move the newest item to pool->item.  Returns 1; 0: there is none; -ENOMEM. */
static int pool_pop(filch_pool *pool, size_t *size)
{
    size_t fixed = pool->call->type->item_size;
    const unsigned char *at;
    int e = 0;

    pool_lock(pool);
    if (pool->n > 0) {
        *size = fixed ? fixed : size_word(pool->bytes + pool->end - WORD);
        at = pool->bytes + pool->end - record_bytes(pool, *size);
        e = item_reserve(pool, *size) ? 1 : -ENOMEM;
        if (e == 1) {
            memcpy(pool->item, at + (fixed ? 0 : WORD), *size);
            pool->end -= record_bytes(pool, *size);
            pool->n--;
        }
    }
    pool_unlock(pool);
    return e;
}

static bool pool_process(void *bag, fi_block *block, void *ctx)
{
    const pool_call *call = ctx;
    filch_pool *pool = bag;
    size_t size = 0;
    int e = 1;

    pool->lane = block->lane;
    while (block->items < block->max && block->result == 0 && (e = pool_pop(pool, &size)) == 1) {
        block->result = call->type->handle(pool, pool->item, size, block->acc, call->ctx);
        block->items++;
    }
    pool->lane = NULL;
    if (e < 0)
        block->result = e;
    return e == 1;
}

/* How many records to take, and their bytes.  They are every second one of the oldest. */
typedef struct pool_cut {
    size_t n, bytes;   /* to take */
    size_t seen_bytes; /* of all records among which they are */
} pool_cut;

/* [locked] At least one record, at most half of them. */
static pool_cut pool_measure(const filch_pool *pool, size_t max_bytes)
{
    size_t half = pool->n > 1 ? pool->n / 2 : 1;
    pool_cut cut = {0, 0, 0};

    while (cut.n < half) {
        const unsigned char *at = pool->bytes + pool->begin + cut.seen_bytes;
        size_t taken = record_first(pool, at), kept = 0;

        if (cut.n > 0 && cut.bytes + taken > max_bytes)
            break;
        if (2 * cut.n + 1 < pool->n)
            kept = record_first(pool, at + taken);
        cut.n++;
        cut.bytes += taken;
        cut.seen_bytes += taken + kept;
    }
    return cut;
}

/* [locked] Copy the records of the cut to `to`, and the others among them to `kept`. */
static void pool_cut_copy(const filch_pool *pool, pool_cut cut, unsigned char *to,
                          unsigned char *kept)
{
    const unsigned char *at = pool->bytes + pool->begin, *end = at + cut.seen_bytes;

    for (bool takes = true; at < end; takes = !takes) {
        size_t bytes = record_first(pool, at);

        memcpy(takes ? to : kept, at, bytes);
        *(takes ? &to : &kept) += bytes;
        at += bytes;
    }
}

/* [locked] Move the records of the cut to an empty pool. */
static bool pool_cut_move(filch_pool *pool, pool_cut cut, filch_pool *part)
{
    size_t kept_bytes = cut.seen_bytes - cut.bytes;
    unsigned char *kept = malloc(kept_bytes > 0 ? kept_bytes : 1);

    if (!kept || !pool_reserve(part, cut.bytes)) {
        free(kept);
        return false;
    }
    pool_cut_copy(pool, cut, part->bytes, kept);
    part->end = cut.bytes;
    part->n = cut.n;
    pool->begin += cut.bytes;
    pool->n -= cut.n;
    memcpy(pool->bytes + pool->begin, kept, kept_bytes);
    free(kept);
    return true;
}

static void *pool_split(void *bag, const fi_split *how, void *ctx)
{
    filch_pool *pool = bag, *part = NULL;

    if (pthread_spin_trylock(&pool->lock) != 0)
        return NULL;
    if (pool->n > 0 && pool->n >= how->min_items)
        part = pool_make(ctx);
    if (part && !pool_cut_move(pool, pool_measure(pool, how->max_bytes), part)) {
        pool_drop(part, ctx);
        part = NULL;
    }
    pool_unlock(pool);
    return part;
}

static size_t pool_pack(const void *bag, void *to, size_t capacity, void *ctx)
{
    const filch_pool *pool = bag;
    size_t size = pool->end - pool->begin;

    (void)ctx;
    if (size > 0 && capacity >= size)
        memcpy(to, pool->bytes + pool->begin, size);
    return size;
}

/* Returns the number of records in the last bytes of a pool; 0: they are damaged. */
static size_t records_count(const filch_pool *pool, const unsigned char *at, size_t size)
{
    size_t n = 0;

    while (size > 0) {
        size_t bytes = size < WORD ? 0 : record_first(pool, at);

        if (bytes == 0 || bytes > size)
            return 0;
        at += bytes;
        size -= bytes;
        n++;
    }
    return n;
}

static int pool_unpack(void *bag, const void *from, size_t size, void *ctx)
{
    filch_pool *pool = bag;
    size_t n = records_count(pool, from, size);

    (void)ctx;
    if (n == 0 && size > 0)
        return -EPROTO;
    if (!pool_reserve(pool, size))
        return -ENOMEM;
    if (size > 0)
        memcpy(pool->bytes + pool->end, from, size);
    pool->end += size;
    pool->n += n;
    return 0;
}

static const fi_bag_ops pool_ops = {
    .is_shared = true,
    .make = pool_make,
    .drop = pool_drop,
    .process = pool_process,
    .split = pool_split,
    .pack = pool_pack,
    .unpack = pool_unpack,
};

/* ---- calls ---- */

static int item_check(const char *function, const pool_call *call, const void *item, size_t size)
{
    size_t fixed = call->type->item_size;

    if (size > 0 && !item)
        return fi_run_null(function, "item", "its bytes");
    if (fixed && size != fixed) {
        fi_report(FILCH_LEVEL_ERROR, "%s: the item has %zu bytes; filch_pool_type.item_size is %zu",
                  function, size, fixed);
        return -EINVAL;
    }
    if (size <= FILCH_CLUSTER_ITEM_MAX)
        return 0;
    fi_report(FILCH_LEVEL_ERROR, "%s: the item is too large (%zu bytes); use at most %d", function,
              size, FILCH_CLUSTER_ITEM_MAX);
    return -EMSGSIZE;
}

/* May the caller push now? */
static int push_check(const char *function, const filch_pool *pool)
{
    if (!pool)
        return fi_run_null(function, "pool", "that of the handler");
    if (pool->lane)
        return 0;
    fi_report(FILCH_LEVEL_ERROR,
              "%s: no handler of this pool runs; call it from the handler that got the pool",
              function);
    return -EINVAL;
}

int filch_pool_push(filch_pool *pool, const void *item, size_t size)
{
    int e = push_check(__func__, pool);

    if (e == 0)
        e = item_check(__func__, pool->call, item, size);
    if (e == 0)
        e = pool_append(pool, item, size);
    if (e == 0)
        fi_lane_share(pool->lane);
    return e;
}

static int type_check(const char *function, const filch_pool_type *type)
{
    if (!type)
        return fi_run_null(function, "type", "a type");
    if (!type->handle)
        return fi_run_null(function, "type->handle", "a function");
    if (type->item_size <= FILCH_CLUSTER_ITEM_MAX)
        return 0;
    fi_report(FILCH_LEVEL_ERROR, "%s: filch_pool_type.item_size is too large (%zu); use at most %d",
              function, type->item_size, FILCH_CLUSTER_ITEM_MAX);
    return -EINVAL;
}

/* The items with which this rank begins. */
static int items_append(const char *function, filch_pool *pool, const void *items, size_t n)
{
    size_t size = pool->call->type->item_size;
    const filch_item *different = items;
    int e = 0;

    for (size_t i = 0; i < n && e == 0; i++) {
        const void *item = size ? (const unsigned char *)items + i * size : different[i].data;
        size_t bytes = size ? size : different[i].size;

        e = item_check(function, pool->call, item, bytes);
        if (e == 0)
            e = pool_append(pool, item, bytes);
    }
    return e;
}

int filch_cluster_pool(const filch_pool_type *type, const void *items, size_t n, void *acc,
                       void *ctx)
{
    pool_call call = {type, ctx};
    fi_work work = {.ops = &pool_ops, .ctx = &call, .acc = acc, .combine_ctx = ctx};
    filch_pool *pool = NULL;
    int e = type_check(__func__, type);

    if (e < 0)
        return e;
    if (n > 0 && !items)
        return fi_run_null(__func__, "items", "the items");
    if (n > 0) {
        pool = pool_make(&call);
        e = pool ? items_append(__func__, pool, items, n) : -ENOMEM;
    }
    work.acc_size = type->acc_size;
    work.combine = type->combine;
    return fi_run(__func__,
                  fi_call_hash(FI_CALL_POOL, (uint64_t[]){type->item_size, type->acc_size}, 2),
                  &work, pool, e);
}
