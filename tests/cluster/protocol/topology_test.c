/* Lifelines and the tree of ranks, for all numbers of ranks up to 300. */
#include "check.h"
#include "protocol/topology.h"

#include <stdbool.h>

enum { RANKS_MAX = 300, BITS = 32 };

/* The smallest z with 2^z >= ranks. */
static unsigned max_degree(unsigned ranks)
{
    unsigned z = 0;

    while (1u << z < ranks)
        z++;
    return z;
}

/* ---- lifelines ---- */

static void degree_check(unsigned rank, unsigned ranks)
{
    uint32_t mask = fi_lifelines(rank, ranks);

    CHECK((unsigned)__builtin_popcount(mask) <= max_degree(ranks));
    CHECK(ranks == 1 || mask != 0);
}

static void a_rank_has_at_most_z_lifelines(void **state)
{
    (void)state;
    for (unsigned ranks = 1; ranks <= RANKS_MAX; ranks++)
        for (unsigned rank = 0; rank < ranks; rank++)
            degree_check(rank, ranks);
}

static unsigned n_reachable(unsigned from, unsigned ranks)
{
    bool is_known[RANKS_MAX] = {false};
    unsigned known[RANKS_MAX], n = 0;

    known[n++] = from;
    is_known[from] = true;
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < BITS; j++) {
            unsigned other =
                fi_lifelines(known[i], ranks) >> j & 1 ? fi_lifeline(known[i], j) : from;

            CHECK(other < ranks);
            if (!is_known[other])
                known[n++] = other;
            is_known[other] = true;
        }
    return n;
}

/* The graph is symmetric (below), so one start is enough. */
static void lifelines_lead_to_each_rank(void **state)
{
    (void)state;
    for (unsigned ranks = 1; ranks <= RANKS_MAX; ranks++)
        CHECK_INT(n_reachable(ranks / 2, ranks), ranks);
}

static void lifeline_check(unsigned rank, unsigned other, unsigned ranks)
{
    int j = fi_lifeline_index(rank, other);
    bool is_one = j >= 0 && (fi_lifelines(rank, ranks) >> j & 1) != 0;

    CHECK_INT(fi_lifeline_index(other, rank), j);
    CHECK_INT(is_one, j >= 0 && fi_lifeline(rank, (unsigned)j) == other);
    CHECK_INT(is_one, is_one && (fi_lifelines(other, ranks) >> j & 1) != 0);
}

static void a_lifeline_has_the_same_index_on_both_sides(void **state)
{
    (void)state;
    for (unsigned ranks = 1; ranks <= RANKS_MAX; ranks += 7)
        for (unsigned rank = 0; rank < ranks; rank++)
            for (unsigned other = 0; other < ranks; other++)
                lifeline_check(rank, other, ranks);
}

static void a_rank_is_not_its_own_lifeline(void **state)
{
    (void)state;
    for (unsigned rank = 0; rank < RANKS_MAX; rank++)
        CHECK_INT(fi_lifeline_index(rank, rank), -1);
    CHECK_INT(fi_lifeline_index(0, 3), -1);
    CHECK_INT(fi_lifeline_index(5, 4), 0);
    CHECK_INT(fi_lifeline_index(0, 8192), 13);
}

static void the_largest_number_of_ranks_has_14_lifelines(void **state)
{
    (void)state;
    CHECK_INT(fi_lifelines(0, 16384), 0x3fff);
    CHECK_INT(fi_lifelines(16383, 16384), 0x3fff);
    CHECK_INT(fi_lifelines(0, 1), 0);
}

/* ---- tree ---- */

/* Each rank except 0 is the child of one rank: of its parent. */
static void tree_check(unsigned ranks)
{
    unsigned n_parents[RANKS_MAX] = {0};

    for (unsigned rank = 0; rank < ranks; rank++) {
        unsigned n = fi_tree_n_children(rank, ranks);

        CHECK(n <= FI_TREE_DEGREE);
        for (unsigned c = 0; c < n; c++) {
            unsigned child = fi_tree_first_child(rank) + c;

            CHECK(child > rank && child < ranks);
            CHECK_INT(fi_tree_parent(child), rank);
            n_parents[child]++;
        }
    }
    CHECK_INT(n_parents[0], 0);
    for (unsigned rank = 1; rank < ranks; rank++)
        CHECK_INT(n_parents[rank], 1);
}

static void each_rank_is_a_child_of_its_parent(void **state)
{
    (void)state;
    for (unsigned ranks = 1; ranks <= RANKS_MAX; ranks++)
        tree_check(ranks);
}

static unsigned depth_of(unsigned rank)
{
    unsigned depth = 0;

    for (; rank > 0; rank = fi_tree_parent(rank))
        depth++;
    return depth;
}

static void the_tree_of_16384_ranks_has_five_levels_below_the_root(void **state)
{
    (void)state;
    CHECK_INT(depth_of(16383), 5);
    CHECK_INT(fi_tree_n_children(16383, 16384), 0);
    CHECK_INT(fi_tree_n_children(UINT32_MAX / 2, 16384), 0);
}

CHECK_MAIN(a_rank_has_at_most_z_lifelines, lifelines_lead_to_each_rank,
           a_lifeline_has_the_same_index_on_both_sides, a_rank_is_not_its_own_lifeline,
           the_largest_number_of_ranks_has_14_lifelines, each_rank_is_a_child_of_its_parent,
           the_tree_of_16384_ranks_has_five_levels_below_the_root)
