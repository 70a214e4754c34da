/* Pools of nodes for filch_cluster_pool.  Each node of the tree is an item.
 *
 * A text is the node's state in 40 letters of 4 bits each, and its depth in decimal.  Programs with
 * paths or names as items use pools in this way. */
#include "items.h"

#include "uts.h"

#include <filch/cluster.h>

enum { TEXT_MAX = 56 };

static void nodes_add(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(uint64_t *)acc += *(const uint64_t *)other;
}

/* ---- items of one size ---- */

static int node_handle(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    const uts_node *node = item;
    int children = uts_children(node), e = 0;

    (void)ctx;
    ++*(uint64_t *)acc;
    for (int i = 0; i < children && e == 0; i++) {
        uts_node child = uts_child(node, i);
        e = filch_pool_push(pool, &child, size);
    }
    return e;
}

static const filch_pool_type nodes_type = {
    .item_size = sizeof(uts_node),
    .handle = node_handle,
    .acc_size = sizeof(uint64_t),
    .combine = nodes_add,
};

int nodes_run(uint64_t *nodes)
{
    uts_node root = uts_root();

    return filch_cluster_pool(&nodes_type, &root, filch_cluster_rank() == 0, nodes, NULL);
}

/* ---- texts ---- */

static size_t number_write(char *text, unsigned number)
{
    char digits[12];
    size_t n = 0;

    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    for (size_t i = 0; i < n; i++)
        text[i] = digits[n - 1 - i];
    return n;
}

/* Returns the length. */
static size_t text_write(char text[TEXT_MAX], const uts_node *node)
{
    size_t n = 0;

    for (int i = 0; i < 5; i++)
        for (int shift = 28; shift >= 0; shift -= 4)
            text[n++] = (char)('a' + (node->state[i] >> shift & 15));
    return n + number_write(text + n, (unsigned)node->depth);
}

static uts_node text_read(const char *text, size_t length)
{
    uts_node node = {.depth = 0};
    size_t n = 0;

    for (int i = 0; i < 5; i++)
        for (int shift = 28; shift >= 0; shift -= 4)
            node.state[i] |= (uint32_t)(text[n++] - 'a') << shift;
    for (; n < length; n++)
        node.depth = 10 * node.depth + (text[n] - '0');
    return node;
}

static int text_handle(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    uts_node node = text_read(item, size);
    int children = uts_children(&node), e = 0;
    char text[TEXT_MAX];

    (void)ctx;
    ++*(uint64_t *)acc;
    for (int i = 0; i < children && e == 0; i++) {
        uts_node child = uts_child(&node, i);
        e = filch_pool_push(pool, text, text_write(text, &child));
    }
    return e;
}

static const filch_pool_type texts_type = {
    .handle = text_handle,
    .acc_size = sizeof(uint64_t),
    .combine = nodes_add,
};

int texts_run(uint64_t *nodes)
{
    char text[TEXT_MAX];
    uts_node root = uts_root();
    filch_item item = {text, text_write(text, &root)};

    return filch_cluster_pool(&texts_type, &item, filch_cluster_rank() == 0, nodes, NULL);
}
