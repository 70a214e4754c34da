#include "sim/table.h"

#include "sim/format.h"
#include "sim/sim.h"
#include "sim/trees.h"

#include <stdio.h>
#include <string.h>

#define WAKE_NS 50000

typedef struct cell {
    const char *tree;
    unsigned ranks;
    unsigned latency_us;
    unsigned n_slow; /* 10 times slower */
    int64_t item_ns;
    double goal; /* per cent, with wake-ups that take no time; 0: none */
} cell;

/* Terminated by an entry without a tree. */
static const cell whole[] = {
    {"G13", 256, 10, 0, 220, 97},     {"G13", 1024, 2, 0, 220, 95},  {"G13", 1024, 10, 0, 220, 91},
    {"G13", 16384, 10, 0, 10000, 93}, {"B13", 64, 2, 0, 220, 98},    {"B13", 64, 10, 0, 220, 95},
    {"B13", 256, 2, 0, 220, 86},      {"B13", 256, 10, 0, 220, 78},  {"B13", 1024, 2, 0, 220, 50},
    {"B13", 1024, 10, 0, 220, 35},    {"B13", 256, 10, 25, 220, 74}, {0},
};

static const cell quick[] = {
    {"G9", 16, 2, 0, 220, 0},
    {"G9", 64, 10, 0, 220, 0},
    {"G9", 256, 10, 0, 10000, 0},
    {"B9", 16, 2, 0, 220, 0},
    {"B9", 64, 10, 0, 220, 0},
    {"B9", 16, 10, 2, 220, 0},
    {0},
};

/* The tree of the last cell.  Its nodes are counted once. */
typedef struct counted_tree {
    const char *name;
    fi_tree tree;
    fi_tree_sum sum;
} counted_tree;

static void tree_use(counted_tree *t, const char *name)
{
    if (t->name && strcmp(t->name, name) == 0)
        return;
    t->name = name;
    t->tree = fi_named_tree_make(fi_named_tree_find(name));
    t->sum = fi_tree_walk(&t->tree, 0, 1);
}

static void header_print(int64_t wake_ns)
{
    printf("wake-up of a thread: %s\n", wake_ns == 0 ? "0 us" : "0 to 50 us");
    printf("%-4s %11s %9s %6s %4s %8s %9s %10s %11s %6s\n", "tree", "nodes", "item", "ranks",
           "slow", "latency", "time", "messages", "efficiency", "goal");
}

/* Returns false: the goal is not met. */
static bool row_print(const cell *c, int64_t wake_ns, const fi_sim_report *report)
{
    char nodes[FI_GROUPED_SIZE], messages[FI_GROUPED_SIZE], ranks[FI_GROUPED_SIZE];
    double efficiency = 100 * report->efficiency;
    bool has_goal = wake_ns == 0 && c->goal > 0;

    printf("%-4s %11s %6.2f us %6s %4u %5u us %6.1f ms %10s %9.1f %%", c->tree,
           fi_format_grouped(report->items, nodes), (double)c->item_ns / 1e3,
           fi_format_grouped(c->ranks, ranks), c->n_slow, c->latency_us, (double)report->ns / 1e6,
           fi_format_grouped(report->messages, messages), efficiency);
    if (has_goal)
        printf(" %4.0f %%%s", c->goal, efficiency < c->goal ? "  not met" : "");
    putchar('\n');
    fflush(stdout);
    return !has_goal || efficiency >= c->goal;
}

static bool cell_run(const cell *c, int64_t wake_ns, const counted_tree *t)
{
    fi_sim_settings set = fi_sim_defaults();
    fi_sim_report report;

    set.tree = t->tree;
    set.known = &t->sum;
    set.ranks = c->ranks;
    set.latency_ns = (int64_t)c->latency_us * 1000;
    set.item_ns = c->item_ns;
    set.n_slow = c->n_slow;
    set.slow_factor = c->n_slow > 0 ? 10 : 1;
    set.wake_ns = wake_ns;
    set.progress = fi_progress_show;
    fi_sim_run(&set, &report);
    fi_progress_clear();
    if (report.error[0] != '\0') {
        fprintf(stderr, "filch: cluster sim: %s, %u ranks: %s\n", c->tree, c->ranks, report.error);
        return false;
    }
    return row_print(c, wake_ns, &report);
}

bool fi_table_print(bool is_quick)
{
    static const int64_t wakes[] = {0, WAKE_NS};
    counted_tree tree = {0};
    bool is_good = true;

    for (unsigned i = 0; i < sizeof wakes / sizeof *wakes; i++) {
        if (i > 0)
            putchar('\n');
        header_print(wakes[i]);
        for (const cell *c = is_quick ? quick : whole; c->tree; c++) {
            tree_use(&tree, c->tree);
            is_good &= cell_run(c, wakes[i], &tree);
        }
    }
    return is_good;
}
