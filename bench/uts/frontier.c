/* A bag of nodes for filch_cluster_run.
 *
 * An element is a node and the range of its children that are not explored yet.  A child without
 * children is counted and not stored, so the bag has at most one element per level of the tree, and
 * its packed form is small. */
#include "frontier.h"

#include "uts.h"

#include <errno.h>
#include <filch/cluster.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CAPACITY_MIN = 64,
    SPLIT_MIN = 20 /* children.  Fewer take less time than their transport */
};

typedef struct branch {
    uts_node node;
    int next, end; /* the children that are not explored */
} branch;

typedef struct frontier {
    branch *branches; /* oldest first */
    size_t n, capacity;
} frontier;

/* For calls that cannot return an error.  It ends all ranks. */
static _Noreturn void exit_without_memory(void)
{
    fputs("uts-cluster: out of memory\n", stderr);
    exit(1);
}

static bool frontier_reserve(frontier *f, size_t n)
{
    size_t capacity = f->capacity > 0 ? f->capacity : CAPACITY_MIN;
    branch *branches;

    if (n <= f->capacity)
        return true;
    while (capacity < n)
        capacity *= 2;
    branches = realloc(f->branches, capacity * sizeof *branches);
    if (!branches)
        return false;
    f->branches = branches;
    f->capacity = capacity;
    return true;
}

static bool frontier_push(frontier *f, branch b)
{
    if (!frontier_reserve(f, f->n + 1))
        return false;
    f->branches[f->n++] = b;
    return true;
}

static bool frontier_append(frontier *f, const void *branches, size_t n)
{
    if (!frontier_reserve(f, f->n + n))
        return false;
    if (n > 0)
        memcpy(f->branches + f->n, branches, n * sizeof *f->branches);
    f->n += n;
    return true;
}

static void *frontier_make(void *ctx)
{
    (void)ctx;
    return calloc(1, sizeof(frontier));
}

static void frontier_drop(void *bag, void *ctx)
{
    frontier *f = bag;

    (void)ctx;
    free(f->branches);
    free(f);
}

/* Remove the next child of the newest branch. */
static uts_node frontier_pop(frontier *f)
{
    branch *b = &f->branches[f->n - 1];
    uts_node child = uts_child(&b->node, b->next++);

    if (b->next == b->end)
        f->n--;
    return child;
}

static int frontier_process(void *bag, size_t n, void *acc, void *ctx)
{
    frontier *f = bag;
    uint64_t explored = 0;
    int e = 0;

    (void)ctx;
    while (explored < n && f->n > 0 && e == 0) {
        uts_node node = frontier_pop(f);
        int children = uts_children(&node);
        explored++;
        if (children > 0 && !frontier_push(f, (branch){node, 0, children}))
            e = -ENOMEM;
    }
    *(uint64_t *)acc += explored;
    return e < 0 ? e : f->n > 0;
}

static bool is_worth_splitting(const frontier *f)
{
    int children = 0;

    for (size_t i = f->n; i > 0 && children < SPLIT_MIN; i--)
        children += f->branches[i - 1].end - f->branches[i - 1].next;
    return children >= SPLIT_MIN;
}

/* Move half of the children of each branch.  The extra one of an odd number goes to both sides in
 * turns.  So both get nodes of all levels.  Their subtrees differ in size. */
static void frontier_halve(frontier *f, frontier *part)
{
    size_t kept = 0;
    int extra = 1;

    for (size_t i = 0; i < f->n; i++) {
        branch b = f->branches[i];
        int left = b.end - b.next, taken = (left + extra) / 2;

        extra ^= left & 1;
        if (taken > 0)
            part->branches[part->n++] = (branch){b.node, b.end - taken, b.end};
        b.end -= taken;
        if (b.next < b.end)
            f->branches[kept++] = b;
    }
    f->n = kept;
}

static void *frontier_split(void *bag, void *ctx)
{
    frontier *f = bag, *part = is_worth_splitting(f) ? frontier_make(ctx) : NULL;

    if (!part)
        return NULL;
    if (!frontier_reserve(part, f->n)) {
        frontier_drop(part, ctx);
        return NULL;
    }
    frontier_halve(f, part);
    return part;
}

static void frontier_merge(void *bag, void *other, void *ctx)
{
    const frontier *o = other;

    if (!frontier_append(bag, o->branches, o->n))
        exit_without_memory();
    frontier_drop(other, ctx);
}

static size_t frontier_pack(const void *bag, void *to, size_t capacity, void *ctx)
{
    const frontier *f = bag;
    size_t size = f->n * sizeof *f->branches;

    (void)ctx;
    if (size > 0 && size <= capacity)
        memcpy(to, f->branches, size);
    return size;
}

static int frontier_unpack(void *bag, const void *from, size_t size, void *ctx)
{
    (void)ctx;
    if (size % sizeof(branch) != 0)
        return -EPROTO;
    return frontier_append(bag, from, size / sizeof(branch)) ? 0 : -ENOMEM;
}

static void nodes_add(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(uint64_t *)acc += *(const uint64_t *)other;
}

static const filch_bag_type frontier_type = {
    .make = frontier_make,
    .drop = frontier_drop,
    .process = frontier_process,
    .split = frontier_split,
    .merge = frontier_merge,
    .pack = frontier_pack,
    .unpack = frontier_unpack,
    .acc_size = sizeof(uint64_t),
    .combine = nodes_add,
};

/* A bag with all children of the root. */
static frontier *frontier_of_root(void)
{
    uts_node root = uts_root();
    int children = uts_children(&root);
    frontier *f = frontier_make(NULL);

    if (!f || (children > 0 && !frontier_push(f, (branch){root, 0, children})))
        exit_without_memory();
    return f;
}

int frontier_run(uint64_t *nodes)
{
    frontier *f = filch_cluster_rank() == 0 ? frontier_of_root() : NULL;
    int e = filch_cluster_run(&frontier_type, f, nodes, NULL);

    ++*nodes; /* the root, which is in no bag */
    return e;
}
