/* filch_cluster_run in one process, with bags that are intervals of numbers. */
#include "../observe/messages.h"

#include <errno.h>
#include <filch/cluster.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct bag {
    uint64_t lo, hi;
    void *memory; /* owned, so that a leak or a double free is seen */
} bag;

typedef struct world {
    atomic_int bags; /* that exist */
    bool refuses_make, refuses_unpack, fails;
    atomic_int packs, unpacks;
} world;

static void *bag_make(void *ctx)
{
    world *w = ctx;
    bag *b = w->refuses_make ? NULL : malloc(sizeof *b);

    if (!b)
        return NULL;
    *b = (bag){.memory = malloc(1)};
    atomic_fetch_add(&w->bags, 1);
    return b;
}

static void bag_drop(void *of, void *ctx)
{
    free(((bag *)of)->memory);
    free(of);
    atomic_fetch_sub(&((world *)ctx)->bags, 1);
}

static int bag_process(void *of, size_t n, void *acc, void *ctx)
{
    bag *b = of;

    CHECK(n > 0);
    for (; n > 0 && b->lo < b->hi; n--)
        *(uint64_t *)acc += b->lo++;
    if (((world *)ctx)->fails && b->lo > 1000)
        return -EDOM;
    return b->lo < b->hi;
}

static void *bag_split(void *of, void *ctx)
{
    bag *b = of, *part;
    uint64_t half = (b->hi - b->lo) / 2;

    if (half < 10)
        return NULL;
    part = bag_make(ctx);
    if (part) {
        part->hi = b->hi;
        part->lo = b->hi -= half;
    }
    return part;
}

/* Only adjacent intervals are merged here: a part of a part goes back to where it came from. */
static void bag_merge(void *of, void *other, void *ctx)
{
    bag *b = of;
    const bag *o = other;

    CHECK(b->hi == o->lo);
    b->hi = o->hi;
    bag_drop(other, ctx);
}

static size_t bag_pack(const void *of, void *to, size_t capacity, void *ctx)
{
    atomic_fetch_add(&((world *)ctx)->packs, capacity > 0);
    if (capacity >= 2 * sizeof(uint64_t))
        memcpy(to, of, 2 * sizeof(uint64_t));
    return 2 * sizeof(uint64_t);
}

static int bag_unpack(void *of, const void *from, size_t size, void *ctx)
{
    atomic_fetch_add(&((world *)ctx)->unpacks, 1);
    if (((world *)ctx)->refuses_unpack)
        return -EILSEQ;
    CHECK_INT(size, 2 * sizeof(uint64_t));
    memcpy(of, from, size);
    return 0;
}

static void combine(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(uint64_t *)acc += *(const uint64_t *)other;
}

static const filch_bag_type type = {bag_make, bag_drop,   bag_process,      bag_split, bag_merge,
                                    bag_pack, bag_unpack, sizeof(uint64_t), combine};

static bag *bag_of(world *w, uint64_t hi)
{
    bag *b = bag_make(w);

    CHECK(b);
    b->hi = hi;
    return b;
}

static void all_bags_are_processed_and_freed(void **state)
{
    world w = {0};
    uint64_t sum = 0;

    (void)state;
    CHECK_INT(filch_cluster_start(NULL), 0);
    CHECK_INT(filch_cluster_run(&type, bag_of(&w, 5000000), &sum, &w), 0);
    CHECK_INT(sum, UINT64_C(5000000) * 4999999 / 2);
    CHECK_INT(atomic_load(&w.bags), 0);
    CHECK_INT(filch_cluster_run(&type, NULL, &sum, &w), 0);
    CHECK_INT(filch_cluster_stop(), 0);
}

static void an_error_ends_the_run(void **state)
{
    world w = {.fails = true};
    uint64_t sum = 0;

    (void)state;
    CHECK_INT(filch_cluster_start(NULL), 0);
    CHECK_INT(filch_cluster_run(&type, bag_of(&w, 5000000), &sum, &w), -EDOM);
    CHECK_INT(atomic_load(&w.bags), 0);
    CHECK_INT(filch_cluster_stop(), 0);
}

/* Two workers, so that a lane is forked. */
static void copies_are_checked(void **state)
{
    world w = {0};
    uint64_t sum = 0;

    (void)state;
    setenv("FILCH_CLUSTER_CHECK", "1", 1);
    setenv("FILCH_WORKERS", "2", 1);
    CHECK_INT(filch_cluster_start(NULL), 0);
    CHECK_INT(filch_cluster_run(&type, bag_of(&w, 5000000), &sum, &w), 0);
    CHECK_INT(sum, UINT64_C(5000000) * 4999999 / 2);
    CHECK(atomic_load(&w.packs) > 0);
    CHECK_INT(atomic_load(&w.packs), atomic_load(&w.unpacks));
    w.refuses_unpack = true;
    CHECK_INT(filch_cluster_run(&type, bag_of(&w, 5000000), &sum, &w), -EILSEQ);
    CHECK_INT(atomic_load(&w.bags), 0);
    CHECK_INT(filch_cluster_stop(), 0);
    unsetenv("FILCH_CLUSTER_CHECK");
    unsetenv("FILCH_WORKERS");
}

static void incomplete_types_are_refused(void **state)
{
    filch_bag_type wrong = type;
    world w = {0};
    uint64_t sum = 0;

    (void)state;
    messages_reset();
    CHECK_INT(filch_cluster_start(NULL), 0);
    CHECK_INT(filch_cluster_run(NULL, NULL, &sum, &w), -EINVAL);
    wrong.merge = NULL;
    CHECK_INT(filch_cluster_run(&wrong, NULL, &sum, &w), -EINVAL);
    CHECK(
        strstr(messages, "filch_cluster_run: a function of type is NULL; pass all but combine\n"));
    CHECK_INT(filch_cluster_run(&type, bag_of(&w, 10), NULL, &w), -EINVAL);
    CHECK(strstr(messages, "filch_cluster_run: acc is NULL; pass a place for the result\n"));
    wrong = type;
    wrong.combine = NULL;
    CHECK_INT(filch_cluster_run(&wrong, bag_of(&w, 10), &sum, &w), -EINVAL);
    CHECK(strstr(messages, "filch_cluster_run: combine is NULL; pass a function\n"));
    wrong = type;
    wrong.acc_size = FILCH_CLUSTER_ACC_MAX + 1;
    CHECK_INT(filch_cluster_run(&wrong, bag_of(&w, 10), &sum, &w), -EINVAL);
    CHECK(strstr(messages,
                 "filch_cluster_run: the accumulator is too large (1048577 bytes); use at "
                 "most 1048576\n"));
    CHECK_INT(atomic_load(&w.bags), 0);
    CHECK_INT(filch_cluster_stop(), 0);
    filch_set_message_handler(NULL, NULL);
}

CHECK_MAIN(all_bags_are_processed_and_freed, an_error_ends_the_run, copies_are_checked,
           incomplete_types_are_refused)
