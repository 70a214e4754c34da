/* Loops that are cut where and when somebody is hungry. */
#include <filch/algo.h>
#include <filch/task.h>

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Of a range whose grain is ours to choose.  After each piece we look who is hungry. */
#define PIECES 1024
/* A large grain is a multiple of this, so that no piece costs a vector loop its alignment. */
#define VECTOR 64
/* Where elements are so many, a piece is also a part of what is left: 1 / 2^7 of it. */
#define PART_SHIFT  7
#define NEVER_SHIFT (sizeof(size_t) * CHAR_BIT - 1)

typedef struct loop {
    void (*body)(size_t lo, size_t hi, void *ctx);
    int (*attempt)(size_t lo, size_t hi,
                   void *ctx); /* in its place, where a piece may end the loop */
    void *ctx;
    size_t grain;
    size_t part_shift;
    atomic_int error; /* the first; relaxed, as it tells of nothing but itself */
} loop;

/* False: the loop is over. */
static bool attempt_piece(loop *l, size_t lo, size_t hi)
{
    int none = 0;
    int e;

    if (atomic_load_explicit(&l->error, memory_order_relaxed) != 0)
        return false;
    e = l->attempt(lo, hi, l->ctx);
    if (e == 0)
        return true;
    atomic_compare_exchange_strong_explicit(&l->error, &none, e, memory_order_relaxed,
                                            memory_order_relaxed);
    return false;
}

static inline bool run_piece(loop *l, size_t lo, size_t hi)
{
    if (l->attempt)
        return attempt_piece(l, lo, hi);
    l->body(lo, hi, l->ctx);
    return true;
}

/* Of more than one grain.  Large ones first: while much is left, who comes can wait for a little of it. */
static inline size_t next_piece(const loop *l, size_t left)
{
    size_t part = left >> l->part_shift;

    return part > l->grain ? part / VECTOR * VECTOR : l->grain;
}

/* Half of what is left, in whole grains. */
static size_t cut(const loop *l, size_t left)
{
    return ((left - 1) / l->grain + 1) / 2 * l->grain;
}

/* As long as nobody is hungry this is a plain loop.  Who comes gets half of what is left. */
FILCH_VOID_TASK(run_range, loop *, l, size_t, lo, size_t, hi)
{
    int open = 0;

    while (hi - lo > l->grain) {
        if (FILCH_HUNGRY()) {
            size_t middle = lo + cut(l, hi - lo);
            FILCH_SPAWN(run_range, l, middle, hi);
            hi = middle;
            open++;
        } else {
            size_t next = lo + next_piece(l, hi - lo);
            if (!run_piece(l, lo, next))
                hi = next; /* the last piece will not run either */
            lo = next;
        }
    }
    run_piece(l, lo, hi);
    for (; open > 0; open--)
        FILCH_SYNC(run_range);
}

static void choose_grain(loop *l, size_t n)
{
    l->grain = (n - 1) / PIECES + 1;
    if (l->grain < VECTOR)
        return;
    l->grain = (l->grain - 1) / VECTOR * VECTOR + VECTOR;
    l->part_shift = PART_SHIFT;
}

static void run(loop *l, size_t lo, size_t hi)
{
    if (hi <= lo)
        return;
    l->part_shift = NEVER_SHIFT;
    if (l->grain == 0)
        choose_grain(l, hi - lo);
    FILCH_RUN(run_range, l, lo, hi);
}

void filch_for(size_t lo, size_t hi, size_t grain, void (*body)(size_t lo, size_t hi, void *ctx),
               void *ctx)
{
    loop l = {.body = body, .ctx = ctx, .grain = grain};

    run(&l, lo, hi);
}

int filch_for_fallible(size_t lo, size_t hi, size_t grain,
                       int (*body)(size_t lo, size_t hi, void *ctx), void *ctx)
{
    loop l = {.attempt = body, .ctx = ctx, .grain = grain};

    run(&l, lo, hi);
    return atomic_load_explicit(&l.error, memory_order_relaxed);
}
