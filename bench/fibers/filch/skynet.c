/* Skynet: a tree of fibers with ten children each.  The leaves are numbered, and each fiber sums
 * the leaves below it.  A child sends its sum to its parent through a channel, as in the published
 * program (skynet), or stores it before its parent joins it (skynet-join). */
#include "cases.h"

#include <errno.h>
#include <filch/chan.h>
#include <filch/fiber.h>
#include <sys/resource.h>

enum { CHILDREN = 10 };

static int64_t leaves_of(long depth)
{
    return depth == 0 ? 1 : CHILDREN * leaves_of(depth - 1);
}

int64_t skynet_fibers(long depth)
{
    return depth == 0 ? 1 : leaves_of(depth) + skynet_fibers(depth - 1);
}

int64_t skynet_sum(long depth)
{
    return leaves_of(depth) * (leaves_of(depth) - 1) / 2;
}

typedef struct node {
    filch_chan *parent; /* receives the sum; NULL in skynet-join */
    int64_t first;      /* number of its first leaf */
    int64_t leaves;
    int64_t sum; /* skynet-join */
} node;

/* ---- by channels ---- */

static void send_sum(void *arg);

static int64_t sum_by_channel(int64_t first, int64_t leaves)
{
    if (leaves == 1)
        return first;
    node children[CHILDREN];
    int64_t sum = 0, part = leaves / CHILDREN;
    filch_chan *c = filch_chan_new(sizeof sum, 0);
    must(c ? 0 : -ENOMEM);
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = (node){.parent = c, .first = first + i * part, .leaves = part};
        must(filch_go(send_sum, &children[i]));
    }
    for (int i = 0; i < CHILDREN; i++) {
        int64_t v;
        must(filch_chan_recv(c, &v));
        sum += v;
    }
    filch_chan_free(c);
    return sum;
}

/* The node lies on the parent's stack, which may be gone after the send: read it before. */
static void send_sum(void *arg)
{
    node *n = arg;
    filch_chan *parent = n->parent;
    int64_t sum = sum_by_channel(n->first, n->leaves);
    must(filch_chan_send(parent, &sum));
}

/* ---- by joins ---- */

static void *sum_by_joins(void *arg)
{
    node *n = arg, children[CHILDREN];
    filch_fiber *fibers[CHILDREN];
    int64_t part = n->leaves / CHILDREN;
    if (n->leaves == 1) {
        n->sum = n->first;
        return NULL;
    }
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = (node){.first = n->first + i * part, .leaves = part};
        fibers[i] = filch_fiber_start(sum_by_joins, &children[i]);
        must(fibers[i] ? 0 : -ENOMEM);
    }
    for (int i = 0; i < CHILDREN; i++) {
        must(filch_fiber_join(fibers[i], NULL));
        n->sum += children[i].sum;
    }
    return NULL;
}

/* ---- both ---- */

static void add_peak_memory(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    metrics_add("peak_mb", (double)use.ru_maxrss / 1024);
}

/* The calling fiber is the root. */
stopwatch skynet(long depth, int64_t *answer)
{
    stopwatch w = stopwatch_start();
    *answer = sum_by_channel(0, leaves_of(depth));
    stopwatch spent = stopwatch_read(w);
    add_peak_memory();
    return spent;
}

stopwatch skynet_join(long depth, int64_t *answer)
{
    node root = {.leaves = leaves_of(depth)};
    stopwatch w = stopwatch_start();
    sum_by_joins(&root);
    stopwatch spent = stopwatch_read(w);
    *answer = root.sum;
    add_peak_memory();
    return spent;
}
