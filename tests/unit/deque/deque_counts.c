/* The counters of a deque are exact if one thread does all operations.  The size is the increments
 * of the bottom, minus its decrements, minus the increments of the top.  For every kind and shape,
 * and any first index. */
#include "check.h"

#include "base/rng.h"
#include "unit/deque/settings.h"

static char x[64];

typedef struct counts {
    uint64_t pushes, pops, pops_failed, resizes, bottom_decs, bottom_restores;
    uint32_t moved;
} counts;

static counts counts_of(fi_deque *d, uint32_t top)
{
    fi_deque_counts *c = fi_deque_counts_of(d);

    return (counts){fi_counted(&c->pushes),      fi_counted(&c->pops),
                    fi_counted(&c->pops_failed), fi_counted(&c->resizes),
                    fi_counted(&c->bottom_decs), fi_counted(&c->bottom_restores),
                    fi_deque_top(d) - top};
}

#define CHECK_COUNTS(d, top, ...)                                                                  \
    do {                                                                                           \
        counts is_ = counts_of(d, top), should_ = {__VA_ARGS__};                                   \
        CHECK_INT(is_.pushes, should_.pushes);                                                     \
        CHECK_INT(is_.pops, should_.pops);                                                         \
        CHECK_INT(is_.pops_failed, should_.pops_failed);                                           \
        CHECK_INT(is_.resizes, should_.resizes);                                                   \
        CHECK_INT(is_.bottom_decs, should_.bottom_decs);                                           \
        CHECK_INT(is_.bottom_restores, should_.bottom_restores);                                   \
        CHECK_INT(is_.moved, should_.moved);                                                       \
    } while (0)

static fi_deque *filled(const fi_deque_ops *kind, uint32_t capacity, int n, uint32_t *top)
{
    const setting s = {kind, capacity, 0};
    fi_deque *d = deque_of(&s, UINT32_MAX - 1u);

    *top = fi_deque_top(d);
    for (int i = 0; i < n; i++)
        CHECK_INT(fi_deque_push(d, &x[i]), 0);
    return d;
}

static void pop_all(fi_deque *d)
{
    while (fi_deque_pop(d))
        ;
}

static void a_growing_deque(void **state)
{
    void *out[8];
    uint32_t top;
    fi_deque *d = filled(&fi_deque_batch, 2, 7, &top);

    (void)state;
    CHECK_COUNTS(d, top, .pushes = 7, .resizes = 2);
    CHECK_INT(fi_deque_steal(d, out, 3), 3);
    CHECK_COUNTS(d, top, .pushes = 7, .resizes = 2, .moved = 3);
    pop_all(d);
    CHECK_COUNTS(d, top, .pushes = 7, .resizes = 2, .moved = 3, .pops = 4, .pops_failed = 1,
                 .bottom_decs = 4);
    fi_deque_free(d);
}

/* The last item is popped at the top, and the bottom is restored. */
static void a_bounded_deque(void **state)
{
    uint32_t top;
    fi_deque *d = filled(&fi_deque_bounded, 8, 3, &top);

    (void)state;
    pop_all(d);
    CHECK_COUNTS(d, top, .pushes = 3, .pops = 3, .pops_failed = 1, .bottom_decs = 3,
                 .bottom_restores = 1, .moved = 1);
    fi_deque_free(d);
}

/* The owner pops at the top as well. */
static void a_fifo(void **state)
{
    uint32_t top;
    fi_deque *d = filled(&fi_deque_half, 8, 3, &top);

    (void)state;
    pop_all(d);
    CHECK_COUNTS(d, top, .pushes = 3, .pops = 3, .pops_failed = 1, .moved = 3);
    fi_deque_free(d);
}

static void a_locked_deque(void **state)
{
    void *out[1];
    uint32_t top;
    fi_deque *d = filled(&fi_deque_locked, 8, 3, &top);

    (void)state;
    CHECK_INT(fi_deque_steal(d, out, 1), 1);
    pop_all(d);
    CHECK_COUNTS(d, top, .pushes = 3, .pops = 2, .pops_failed = 1, .bottom_decs = 2, .moved = 1);
    fi_deque_free(d);
}

/* A refused push is not counted. */
static void a_full_deque(void **state)
{
    uint32_t top;
    fi_deque *d = filled(&fi_deque_half, 2, 2, &top);

    (void)state;
    CHECK_INT(fi_deque_push(d, x), -ENOSPC);
    CHECK_COUNTS(d, top, .pushes = 2);
    fi_deque_free(d);
}

static uint64_t size_by_counts(counts c)
{
    return c.pushes + c.bottom_restores - c.bottom_decs - c.moved;
}

static void random_operations(fi_deque *d, fi_rng *rng)
{
    uint32_t top = fi_deque_top(d);
    uint64_t stolen = 0;
    void *out[FI_DEQUE_MAX_BATCH];

    for (int i = 0; i < 2000; i++) {
        uint32_t dice = fi_rng_below(rng, 4);
        if (dice < 2)
            fi_deque_push(d, &x[0]);
        else if (dice == 2)
            fi_deque_pop(d);
        else
            stolen += (uint64_t)fi_deque_steal(d, out, 1 + fi_rng_below(rng, FI_DEQUE_MAX_BATCH));
        counts c = counts_of(d, top);
        CHECK_INT(size_by_counts(c), fi_deque_size(d));
        CHECK_INT(c.pushes, c.pops + stolen + fi_deque_size(d));
    }
}

static void sizes_by_counts(void **state)
{
    fi_rng rng;

    (void)state;
    fi_rng_seed(&rng, 1);
    for (const setting *s = settings; s < settings + SETTINGS; s++)
        for (int i = 0; i < STARTS; i++) {
            fi_deque *d = deque_of(s, starts[i]);
            random_operations(d, &rng);
            fi_deque_free(d);
        }
}

CHECK_MAIN(a_growing_deque, a_bounded_deque, a_fifo, a_locked_deque, a_full_deque, sizes_by_counts)
