/* cluster_errors MODE FILE TOKEN: results, errors and mistakes of a program with 3 ranks.  FILE is
 * shared by the ranks.  TOKEN is for the script, which looks for processes that are left. */
#include "cluster_helpers.h"

#include <filch/fiber.h>
#include <filch/time.h>

typedef struct shared_words {
    atomic_uint failed; /* the rank that must fail has begun to */
} shared_words;

static shared_words *shared;

static void u64_add(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(uint64_t *)acc += *(const uint64_t *)other;
}

static int number_map(uint64_t lo, uint64_t hi, void *acc, void *ctx)
{
    (void)ctx;
    *(uint64_t *)acc += hi - lo;
    return 0;
}

/* A run that succeeds: the job still works. */
static void numbers_check(void)
{
    uint64_t n = 0;

    CHECK_INT(filch_cluster_reduce(0, 10000, 0, &n, sizeof n, number_map, u64_add, NULL), 0);
    CHECK_INT(n, 10000);
}

/* ---- results ---- */

/* Rank 2 fails.  The others are inside an item until it does, so they cannot steal its items. */
static int fail_body(uint64_t lo, uint64_t hi, void *ctx)
{
    (void)lo;
    (void)hi;
    if (filch_cluster_rank() == 2) {
        atomic_store(&shared->failed, 1);
        return *(const int *)ctx;
    }
    while (atomic_load(&shared->failed) == 0)
        CHECK_INT(filch_sleep(1000000), 0);
    return 0;
}

static void failure_check(int result)
{
    CHECK_INT(filch_cluster_for(0, 3000, 1, fail_body, &result), result);
    numbers_check(); /* all ranks have left the run */
    atomic_store(&shared->failed, 0);
    numbers_check(); /* no rank begins the next one before */
}

typedef struct node {
    uint64_t depth, id;
} node;

enum { SOLUTION = 42, SOLUTION_DEPTH = 12 };

/* A tree without end, in which some nodes are solutions. */
static int search_handle(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    node n = *(const node *)item;
    int e = 0;

    (void)acc;
    (void)ctx;
    if (n.depth >= SOLUTION_DEPTH && mix(n.id) % 1000 == 0)
        return SOLUTION;
    for (uint64_t c = 0; c < 2 && e == 0; c++)
        e = filch_pool_push(pool, &(node){n.depth + 1, mix(2 * n.id + c)}, size);
    return e;
}

static void search_check(void)
{
    static const filch_pool_type type = {.item_size = sizeof(node), .handle = search_handle};
    const node root = {0, 1};

    CHECK_INT(filch_cluster_pool(&type, &root, filch_cluster_rank() == 0, NULL, NULL), SOLUTION);
    numbers_check();
}

static int rank_body(uint64_t lo, uint64_t hi, void *ctx)
{
    (void)lo;
    (void)hi;
    (void)ctx;
    return 10 + (int)filch_cluster_rank();
}

static int same_handle(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    (void)pool;
    (void)size;
    (void)acc;
    return memcmp(item, ctx, sizeof(int)) == 0 ? 0 : -EILSEQ;
}

/* Several ranks have results.  All return the same one. */
static void results_check(void)
{
    static const filch_pool_type type = {.item_size = sizeof(int), .handle = same_handle};
    int result = filch_cluster_for(0, 300, 1, rank_body, NULL);

    CHECK(result >= 10 && result <= 12);
    CHECK_INT(filch_cluster_pool(&type, &result, 1, NULL, &result), 0);
}

/* ---- mistakes ---- */

static int nested_body(uint64_t lo, uint64_t hi, void *ctx)
{
    (void)lo;
    (void)hi;
    (void)ctx;
    return filch_cluster_for(0, 10, 1, nested_body, NULL);
}

static int push_handle(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    (void)size;
    (void)acc;
    return filch_pool_push(pool, item, *(const size_t *)ctx);
}

static void mistakes_check(void)
{
    static char large[FILCH_CLUSTER_ITEM_MAX + 1];
    static const filch_pool_type fixed = {.item_size = 8, .handle = push_handle};
    static const filch_pool_type any = {.handle = push_handle};
    size_t too_large = sizeof large, wrong = 7;
    filch_item item = {large, 8}, first = {large, sizeof large};

    CHECK_INT(filch_cluster_start(NULL), -EALREADY);
    CHECK_INT(filch_cluster_for(0, 10, 1, NULL, NULL), -EINVAL);
    CHECK_INT(filch_cluster_for(0, 300, 1, nested_body, NULL), -EBUSY);
    CHECK_INT(filch_cluster_pool(&fixed, large, 1, NULL, &wrong), -EINVAL);
    CHECK_INT(filch_cluster_pool(&any, &item, filch_cluster_rank() == 1, NULL, &too_large),
              -EMSGSIZE);
    CHECK_INT(filch_cluster_pool(&any, &first, filch_cluster_rank() == 1, NULL, &too_large),
              -EMSGSIZE);
    numbers_check();
}

/* ---- other calls on some ranks ---- */

static int none_body(uint64_t lo, uint64_t hi, void *ctx)
{
    (void)lo;
    (void)hi;
    (void)ctx;
    return 0;
}

static int other_call(unsigned kind)
{
    static const filch_pool_type type = {.item_size = 8, .handle = push_handle};
    static uint64_t words[1000];

    switch (kind) {
    case 0:
        return filch_cluster_for(0, 1000, 1, none_body, NULL);
    case 1:
        return filch_cluster_for(0, 1000, 2, none_body, NULL); /* another grain */
    case 2:
        return filch_cluster_pool(&type, NULL, 0, NULL, NULL);
    case 3:
        return filch_cluster_reduce(0, 1000, 1, words, 8, number_map, u64_add, NULL);
    default: /* a larger accumulator */
        return filch_cluster_reduce(0, 1000, 1, words, sizeof words, number_map, u64_add, NULL);
    }
}

static void unequal_check(void)
{
    for (unsigned i = 0; i < 15; i++) {
        unsigned other = i % filch_cluster_ranks(); /* the rank that makes another call */
        unsigned kind = i % 5;

        if (other == filch_cluster_rank())
            kind = (kind + 1) % 5;
        CHECK_INT(other_call(kind), -EPROTO);
        numbers_check();
    }
}

/* ---- bags that fail ---- */

typedef struct count_bag {
    uint64_t left;
} count_bag;

static void *count_make(void *ctx)
{
    return ctx ? NULL : calloc(1, sizeof(count_bag));
}

static void count_drop(void *bag, void *ctx)
{
    (void)ctx;
    free(bag);
}

/* The work does not end without a thief. */
static int count_process(void *bag, size_t n, void *acc, void *ctx)
{
    (void)bag;
    (void)n;
    (void)acc;
    (void)ctx;
    return 1;
}

static void *count_split(void *bag, void *ctx)
{
    (void)bag;
    (void)ctx;
    return calloc(1, sizeof(count_bag));
}

static void count_merge(void *bag, void *other, void *ctx)
{
    (void)bag;
    count_drop(other, ctx);
}

static size_t count_pack(const void *bag, void *to, size_t capacity, void *ctx)
{
    (void)ctx;
    if (capacity >= sizeof(count_bag))
        memcpy(to, bag, sizeof(count_bag));
    return sizeof(count_bag);
}

/* A rank unpacks its own loot if no thief waits any more. */
static int count_unpack(void *bag, const void *from, size_t size, void *ctx)
{
    (void)bag;
    (void)from;
    (void)size;
    (void)ctx;
    return filch_cluster_rank() == 0 ? 0 : -EBADMSG;
}

/* A thief cannot unpack its loot, or cannot create a bag for it. */
static void bags_check(void)
{
    static const filch_bag_type type = {.make = count_make,
                                        .drop = count_drop,
                                        .process = count_process,
                                        .split = count_split,
                                        .merge = count_merge,
                                        .pack = count_pack,
                                        .unpack = count_unpack};
    static int no_memory;
    bool is_first = filch_cluster_rank() == 0;
    void *bag = is_first ? calloc(1, sizeof(count_bag)) : NULL;

    CHECK_INT(filch_cluster_run(&type, bag, NULL, NULL), -EBADMSG);
    bag = is_first ? calloc(1, sizeof(count_bag)) : NULL;
    CHECK_INT(filch_cluster_run(&type, bag, NULL, is_first ? NULL : &no_memory), -ENOMEM);
    numbers_check();
}

/* ---- modes ---- */

static void mode_results(void)
{
    failure_check(-EIO);
    failure_check(7);
    search_check();
    results_check();
    mistakes_check();
    unequal_check();
    bags_check();
}

/* Rank 0 stops while the others make a run. */
static void mode_stop(void)
{
    if (filch_cluster_rank() != 0)
        for (int i = 0; i < 3; i++)
            CHECK_INT(filch_cluster_for(0, 1000, 1, none_body, NULL), -EPROTO);
}

static int exit_body(uint64_t lo, uint64_t hi, void *ctx)
{
    (void)lo;
    (void)hi;
    (void)ctx;
    while (filch_cluster_rank() != 1)
        CHECK_INT(filch_sleep(1000000), 0);
    exit(0);
}

static void mode_exit(void)
{
    (void)filch_cluster_for(0, 3000, 1, exit_body, NULL);
    CHECK(false);
}

static int main_of(const char *mode)
{
    int e = filch_cluster_start(NULL);

    if (e < 0) {
        printf("start: %s\n", strerrorname_np(-e));
        return 3;
    }
    if (strcmp(mode, "return") == 0 && filch_cluster_rank() == 1)
        return 0;
    if (strcmp(mode, "results") == 0)
        mode_results();
    else if (strcmp(mode, "stop") == 0)
        mode_stop();
    else if (strcmp(mode, "exit") == 0)
        mode_exit();
    else
        numbers_check();
    CHECK_INT(filch_cluster_stop(), 0);
    CHECK_INT(filch_cluster_stop(), -EINVAL);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    shared = share_words(argv[2], sizeof *shared);
    return main_of(argv[1]);
}
