/* The Unbalanced Tree Search benchmark (UTS): count the nodes of a tree whose subtrees differ
 * widely in size, so that it cannot be partitioned in advance.
 *
 * T1: the number of children is drawn from a geometric distribution with mean 4, down to a depth
 * of 10 (that is the size).  4,130,071 nodes. T3: the root has 2000 children (that is the size);
 * any other node has 8 children with probability 0.124875, else none.  4,112,897 nodes, some at a
 * depth of 1,500.
 */
#include "uts.h"
#include "bench.h"
#include "sha1.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    T1_DEPTH = 10,
    T1_SEED = 19,
    T1_CHILDREN_MAX = 100,
    T3_ROOT = 2000,
    T3_SEED = 42,
    T3_CHILDREN = 8
};

static const double t1_mean = 4.0;
static const double t3_probability = 0.124875;

static bool is_geometric;
static int size;

/* Uniform in [0, 1), from 31 bits of the state. */
static double draw(const uts_node *node)
{
    return (node->state[4] & 0x7fffffff) / 2147483648.0;
}

static int geometric_children(const uts_node *node)
{
    if (node->depth >= size)
        return 0;
    double p = 1.0 / (1.0 + t1_mean);
    double children = floor(log(1.0 - draw(node)) / log(1.0 - p));
    return children < T1_CHILDREN_MAX ? (int)children : T1_CHILDREN_MAX;
}

static int binomial_children(const uts_node *node)
{
    if (node->depth == 0)
        return size;
    return draw(node) < t3_probability ? T3_CHILDREN : 0;
}

int uts_children(const uts_node *node)
{
    return is_geometric ? geometric_children(node) : binomial_children(node);
}

uts_node uts_root(void)
{
    uint32_t message[5] = {0, 0, 0, 0, is_geometric ? T1_SEED : T3_SEED};
    uts_node root = {.depth = 0};
    sha1_short(message, 5, root.state);
    return root;
}

uts_node uts_child(const uts_node *parent, int number)
{
    uint32_t message[6];
    uts_node child = {.depth = parent->depth + 1};
    memcpy(message, parent->state, sizeof parent->state);
    message[5] = (uint32_t)number;
    sha1_short(message, 6, child.state);
    return child;
}

static int64_t count(const uts_node *node)
{
    int64_t nodes = 1;
    int children = uts_children(node);
    for (int i = 0; i < children; i++) {
        uts_node child = uts_child(node, i);
        nodes += count(&child);
    }
    return nodes;
}

/* The published number of nodes for the published sizes, else the result of a serial walk. */
static int64_t expected(void)
{
    if (is_geometric && size == T1_DEPTH)
        return 4130071;
    if (!is_geometric && size == T3_ROOT)
        return 4112897;
    uts_node root = uts_root();
    return count(&root);
}

static const char *prepare(bench_case *c)
{
    is_geometric = strcmp(c->input, "T1") == 0;
    size = (int)c->size;
    c->expected = expected();
    c->spawns = (uint64_t)c->expected - 1; /* every node except the root */
    return NULL;
}

static const bench_input inputs[] = {
    {"T1", "the depth", 1, 12, T1_DEPTH, 8},
    {"T3", "the number of the root's children", 1, T3_ROOT, T3_ROOT, 140},
    {0},
};

const bench_workload bench_the_workload = {
    .name = "uts",
    .inputs = inputs,
    .stack_size = 4 << 20,
    .prepare = prepare,
};
