/* Random sorts and merges, several at once, with random settings.  FILCH_SEED=… repeats the
 * elements and settings. */
#include "unit/task/helpers.h"

#include "seed.h"
#include "unit/algo/elements.h"

#include <pthread.h>

#define AT_ONCE 4

static size_t draw_length(fi_rng *r)
{
    size_t most = (size_t)1 << fi_rng_below(r, IS_SLOW ? 15 : 17);

    return most + fi_rng_below(r, (uint32_t)most);
}

static size_t draw_size(fi_rng *r)
{
    static const size_t usual[] = {4, 8, 16, 24};

    return fi_rng_below(r, 3) == 0 ? 1 + fi_rng_below(r, 50) : usual[fi_rng_below(r, 4)];
}

/* Stable sort by one call, or by two sorts and a merge. */
typedef struct work {
    elements *e, *out;
    size_t cut; /* 0: no merge */
    int code;
} work;

static void *run(void *arg)
{
    work *w = arg;
    elements *e = w->e;
    unsigned char *second = e->base + w->cut * e->size;

    if (w->cut > 0)
        w->code |= filch_sort_stable(e->base, w->cut, e->size, elements_compare, e);
    w->code |= filch_sort_stable(second, e->n - w->cut, e->size, elements_compare, e);
    if (w->cut > 0)
        w->code |= filch_merge(e->base, w->cut, second, e->n - w->cut, w->out->base, e->size,
                               elements_compare, e);
    return NULL;
}

static void draw_work(work *w, fi_rng *r)
{
    size_t n = draw_length(r), size = draw_size(r);

    *w = (work){.e = elements_new(n, size, fi_rng_below(r, 9))};
    w->e->downwards = fi_rng_below(r, 2);
    elements_lay(w->e, (int)fi_rng_below(r, PATTERNS), r);
    if (fi_rng_below(r, 2)) {
        w->cut = fi_rng_below(r, (uint32_t)n);
        w->out = elements_new(n, size, fi_rng_below(r, 9));
        memcpy(w->out->wanted, w->e->wanted, n * size);
    }
}

static void check_work(work *w)
{
    CHECK_INT(w->code, 0);
    CHECK(elements_stable(w->cut > 0 ? w->out : w->e));
    CHECK(elements_fenced(w->e));
    elements_free(w->e);
    if (w->out)
        elements_free(w->out);
}

static void run_together(fi_rng *r)
{
    pthread_t threads[AT_ONCE];
    work works[AT_ONCE];
    unsigned n = 1 + fi_rng_below(r, AT_ONCE);

    for (unsigned i = 0; i < n; i++)
        draw_work(&works[i], r);
    for (unsigned i = 0; i < n; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, run, &works[i]), 0);
    for (unsigned i = 0; i < n; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    for (unsigned i = 0; i < n; i++)
        check_work(&works[i]);
}

static void random_sorts(void **state)
{
    size_t before = fi_mem_live().blocks;
    fi_rng r;

    (void)state;
    fi_rng_seed(&r, seed_get());
    for (int i = 0; i < SCALED(200); i++) {
        filch_config c = {.workers = 1 + fi_rng_below(&r, 8)};

        set_lab_settings((lab_settings){.publish = fi_rng_below(&r, 3) == 0 ? "eager" : "lazy"});
        CHECK_INT(filch_start(&c), 0);
        run_together(&r);
        CHECK_INT(filch_stop(), 0);
        CHECK_INT(fi_mem_live().blocks, before);
    }
}

CHECK_MAIN(random_sorts)
