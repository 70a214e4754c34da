/* filch_cluster_pool in one process. */
#include "../observe/messages.h"

#include <errno.h>
#include <filch/cluster.h>
#include <filch/time.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct tally {
    uint64_t count, sum;
} tally;

static void combine(void *acc, const void *other, void *ctx)
{
    tally *t = acc;
    const tally *o = other;

    (void)ctx;
    t->count += o->count;
    t->sum += o->sum;
}

/* ---- items of one size ---- */

/* A node of a binary tree, by its depth. */
static int expand(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    tally *t = acc;
    unsigned depth = *(const unsigned *)item - 1;
    int e = 0;

    (void)ctx;
    CHECK_INT(size, sizeof(unsigned));
    CHECK_INT((uintptr_t)item % 16, 0);
    t->count++;
    for (int i = 0; i < 2 && depth > 0 && e == 0; i++)
        e = filch_pool_push(pool, &depth, sizeof depth);
    return e;
}

static void a_tree_is_searched(void **state)
{
    const filch_pool_type type = {sizeof(unsigned), expand, sizeof(tally), combine};
    unsigned roots[3] = {17, 1, 5};
    tally t = {0};

    (void)state;
    CHECK_INT(filch_cluster_start(NULL), 0);
    CHECK_INT(filch_cluster_pool(&type, roots, 3, &t, NULL), 0);
    CHECK_INT(t.count, (1 << 17) - 1 + 1 + 31);
    CHECK_INT(filch_cluster_stop(), 0);
}

static void a_pool_without_items_ends(void **state)
{
    const filch_pool_type type = {sizeof(unsigned), expand, sizeof(tally), combine};
    tally t = {0};

    (void)state;
    CHECK_INT(filch_cluster_start(NULL), 0);
    CHECK_INT(filch_cluster_pool(&type, NULL, 0, &t, NULL), 0);
    CHECK_INT(t.count, 0);
    CHECK_INT(filch_cluster_stop(), 0);
}

/* ---- items of different sizes ---- */

/* An item has bytes of the value of its size.  It pushes one of half its size, and one less. */
static int check_bytes(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    static const unsigned char zeros[FILCH_CLUSTER_ITEM_MAX];
    unsigned char *bytes = malloc(size + 1);
    const unsigned char *got = item;
    tally *t = acc;
    bool is_right = true;
    int e = 0;

    (void)ctx;
    CHECK(bytes);
    CHECK_INT((uintptr_t)item % 16, 0);
    for (size_t i = 0; i < size; i++)
        is_right &= got[i] == (unsigned char)size;
    CHECK(is_right);
    t->count++;
    t->sum += size;
    memset(bytes, (unsigned char)(size / 2), size + 1);
    if (size > 0)
        e = filch_pool_push(pool, bytes, size / 2);
    if (size % 2 == 1 && e == 0)
        e = filch_pool_push(pool, zeros, 0);
    is_right = true; /* pushes do not move the item */
    for (size_t i = 0; i < size; i++)
        is_right &= got[i] == (unsigned char)size;
    CHECK(is_right);
    free(bytes);
    return e;
}

static void expected_tally(tally *t, size_t size)
{
    t->count++;
    t->sum += size;
    if (size > 0)
        expected_tally(t, size / 2);
    if (size % 2 == 1)
        expected_tally(t, 0);
}

static void items_of_different_sizes_are_whole(void **state)
{
    enum { ITEMS = 300 };
    const filch_pool_type type = {0, check_bytes, sizeof(tally), combine};
    static unsigned char bytes[ITEMS][FILCH_CLUSTER_ITEM_MAX];
    filch_item items[ITEMS];
    tally t = {0}, expected = {0};

    (void)state;
    for (size_t i = 0; i < ITEMS; i++) {
        size_t size = i * FILCH_CLUSTER_ITEM_MAX / (ITEMS - 1);

        memset(bytes[i], (unsigned char)size, size);
        items[i] = (filch_item){bytes[i], size};
        expected_tally(&expected, size);
    }
    CHECK_INT(filch_cluster_start(NULL), 0);
    CHECK_INT(filch_cluster_pool(&type, items, ITEMS, &t, NULL), 0);
    CHECK_INT(t.count, expected.count);
    CHECK_INT(t.sum, expected.sum);
    CHECK_INT(filch_cluster_stop(), 0);
}

/* ---- errors ---- */

static int push_wrong(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    static const char large[FILCH_CLUSTER_ITEM_MAX + 1];

    (void)acc;
    if (ctx)
        return filch_pool_push(pool, large, sizeof large);
    CHECK_INT(filch_pool_push(pool, NULL, size), -EINVAL);
    CHECK_INT(filch_pool_push(NULL, item, size), -EINVAL);
    return filch_pool_push(pool, item, size + 1);
}

static void wrong_items_are_refused(void **state)
{
    filch_pool_type type = {sizeof(int), push_wrong, 0, NULL};
    int item = 0;
    filch_item large = {messages, FILCH_CLUSTER_ITEM_MAX + 1}, missing = {NULL, 3};

    (void)state;
    messages_reset();
    CHECK_INT(filch_cluster_start(NULL), 0);
    CHECK_INT(filch_cluster_pool(&type, &item, 1, NULL, NULL), -EINVAL);
    CHECK(strstr(messages,
                 "filch_pool_push: the item has 5 bytes; filch_pool_type.item_size is 4\n"));
    CHECK_INT(filch_cluster_pool(&type, NULL, 1, NULL, NULL), -EINVAL);
    CHECK(strstr(messages, "filch_cluster_pool: items is NULL; pass the items\n"));
    type.item_size = 0;
    CHECK_INT(filch_cluster_pool(&type, &(filch_item){&item, 4}, 1, NULL, &item), -EMSGSIZE);
    CHECK(strstr(messages,
                 "filch_pool_push: the item is too large (65537 bytes); use at most 65536\n"));
    CHECK_INT(filch_cluster_pool(&type, &large, 1, NULL, NULL), -EMSGSIZE);
    CHECK_INT(filch_cluster_pool(&type, &missing, 1, NULL, NULL), -EINVAL);
    type.item_size = FILCH_CLUSTER_ITEM_MAX + 1;
    CHECK_INT(filch_cluster_pool(&type, NULL, 0, NULL, NULL), -EINVAL);
    type.handle = NULL;
    CHECK_INT(filch_cluster_pool(&type, NULL, 0, NULL, NULL), -EINVAL);
    CHECK(strstr(messages, "filch_cluster_pool: type->handle is NULL; pass a function\n"));
    CHECK_INT(filch_cluster_stop(), 0);
    filch_set_message_handler(NULL, NULL);
}

/* With FILCH_CLUSTER_CHECK=1, work that another lane takes is copied by way of its bytes. */
static void copies_are_equal(void **state)
{
    const filch_pool_type type = {sizeof(unsigned), expand, sizeof(tally), combine};
    unsigned root = 18;
    tally t = {0};

    (void)state;
    setenv("FILCH_CLUSTER_CHECK", "1", 1);
    CHECK_INT(filch_cluster_start(NULL), 0);
    CHECK_INT(filch_cluster_pool(&type, &root, 1, &t, NULL), 0);
    CHECK_INT(t.count, (1 << 18) - 1);
    CHECK_INT(filch_cluster_stop(), 0);
    unsetenv("FILCH_CLUSTER_CHECK");
    items_of_different_sizes_are_whole(NULL);
}

/* ---- long items ---- */

enum { MS = 1000000, LONG_MS = 700 };
enum stage { ROOT, OTHER, BEHIND, LONG, FIRST, STAGES };

static atomic_llong began[STAGES];

/* ROOT pushes the others.  The second lane takes OTHER, and the first one processes FIRST, LONG and
 * BEHIND in this order.  OTHER ends just after LONG has begun: BEHIND is not worth a split yet.
 * FIRST is so slow that LONG is a block of its own. */
static int linger(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    int stage = *(const int *)item;

    (void)acc, (void)ctx;
    atomic_store(&began[stage], filch_now());
    for (int i = OTHER; stage == ROOT && i < STAGES; i++)
        CHECK_INT(filch_pool_push(pool, &i, size), 0);
    if (stage == OTHER)
        while (atomic_load(&began[LONG]) == 0)
            sched_yield();
    else if (stage != BEHIND)
        filch_sleep(stage == LONG ? LONG_MS * MS : MS);
    return 0;
}

static void an_item_behind_a_long_one_is_not_late(void **state)
{
    const filch_pool_type type = {.item_size = sizeof(int), .handle = linger};
    const int root = ROOT;

    (void)state;
    setenv("FILCH_WORKERS", "2", 1);
    CHECK_INT(filch_cluster_start(NULL), 0);
    CHECK_INT(filch_cluster_pool(&type, &root, 1, NULL, NULL), 0);
    CHECK(atomic_load(&began[BEHIND]) - atomic_load(&began[LONG]) < LONG_MS * MS / 2);
    CHECK_INT(filch_cluster_stop(), 0);
    unsetenv("FILCH_WORKERS");
}

CHECK_MAIN(a_tree_is_searched, a_pool_without_items_ends, items_of_different_sizes_are_whole,
           wrong_items_are_refused, copies_are_equal, an_item_behind_a_long_one_is_not_late)
