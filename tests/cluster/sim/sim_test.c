/* The parts of the simulator, and some simulations whose result is known. */
#include "base/compiler.h"
#include "check.h"
#include "sim/bag.h"
#include "sim/event.h"
#include "sim/sim.h"
#include "sim/trees.h"

#include <sys/resource.h>

#ifdef FILCH_EMULATED
#define IS_SLOW true
#else
#define IS_SLOW (FI_UNDER_ASAN || FI_UNDER_TSAN)
#endif

enum { GIGABYTE_KB = 1 << 20 };

static void events_come_out_by_time_and_then_in_order(void **state)
{
    fi_events e = {0};
    int64_t last_at = -1;
    uint64_t last_number = 0, random = 1;

    (void)state;
    for (unsigned i = 0; i < 2000; i++)
        CHECK(fi_events_push(
            &e, (fi_event){.at = (int64_t)fi_random_below(&random, 50), .kind = FI_EVENT_WAKE}));
    while (e.n > 0) {
        fi_event next = fi_events_pop(&e);

        CHECK(next.at > last_at || (next.at == last_at && next.number > last_number));
        last_at = next.at;
        last_number = next.number;
    }
    fi_events_free(&e);
}

static void a_split_takes_every_second_item_from_the_old_end(void **state)
{
    fi_bag bag = {0};
    fi_item taken[5];

    (void)state;
    for (uint64_t i = 0; i < 9; i++)
        CHECK(fi_bag_push(&bag, (fi_item){i, 0}));
    CHECK_INT(fi_bag_split(&bag, taken, 3), 3);
    CHECK(taken[0].state == 0 && taken[1].state == 2 && taken[2].state == 4);
    CHECK_INT(bag.n, 6);
    CHECK(bag.items[bag.first].state == 1 && bag.items[bag.first + 2].state == 5);
    CHECK(bag.items[bag.first + 5].state == 8);
    CHECK_INT(fi_bag_split(&bag, taken, 100), 3);
    CHECK_INT(bag.n, 3);
    fi_bag_free(&bag);
}

static void a_tree_is_the_same_in_parts(void **state)
{
    fi_tree tree = fi_tree_geometric(3, 6, 2);
    fi_tree_sum all = fi_tree_walk(&tree, 0, 10), parts = {0};

    (void)state;
    for (uint64_t i = 0; i < 10; i++) {
        fi_tree_sum part = fi_tree_walk(&tree, i, 1);

        parts.count += part.count;
        parts.hash += part.hash;
    }
    CHECK(all.count > 10 && all.count == parts.count && all.hash == parts.hash);
}

static void the_named_trees_have_their_sizes(void **state)
{
    fi_tree g9 = fi_named_tree_make(fi_named_tree_find("g9"));
    fi_tree b9 = fi_named_tree_make(fi_named_tree_find("B9"));

    (void)state;
    CHECK_INT(fi_tree_walk(&g9, 0, 1).count, 585882);
    CHECK_INT(fi_tree_walk(&b9, 0, 1).count, 1299981);
    CHECK(fi_named_tree_find("G") == NULL);
}

static fi_sim_settings small_settings(void)
{
    fi_sim_settings set = fi_sim_defaults();

    set.tree = fi_tree_geometric(9, 7, 3);
    return set;
}

static void one_rank_needs_no_message(void **state)
{
    fi_sim_settings set = small_settings();
    fi_sim_report report;

    (void)state;
    set.ranks = 1;
    CHECK_INT(fi_sim_run(&set, &report), 0);
    CHECK_INT(report.messages, 0);
    CHECK_INT(report.ns, (int64_t)report.items * set.item_ns);
    CHECK(report.items > 1000 && report.efficiency == 1);
}

static void slow_ranks_count_as_what_they_can_do(void **state)
{
    fi_sim_settings set = small_settings();
    fi_sim_report report;

    (void)state;
    set.ranks = 1;
    set.n_slow = 1;
    set.slow_factor = 10;
    CHECK_INT(fi_sim_run(&set, &report), 0);
    CHECK_INT(report.ns, (int64_t)report.items * set.item_ns * 10);
    CHECK(report.efficiency > 0.999 && report.efficiency < 1.001);
}

static void a_wrong_number_of_items_is_found(void **state)
{
    fi_sim_settings set = small_settings();
    fi_tree_sum known = fi_tree_walk(&set.tree, 0, 1);
    fi_sim_report report;

    (void)state;
    set.known = &known;
    CHECK_INT(fi_sim_run(&set, &report), 0);
    known.hash++;
    CHECK_INT(fi_sim_run(&set, &report), -1);
    CHECK(strstr(report.error, "but other ones") != NULL);
    known.count++;
    CHECK_INT(fi_sim_run(&set, &report), -1);
    CHECK(strstr(report.error, "items instead of") != NULL);
}

static void a_result_of_a_handler_ends_the_run(void **state)
{
    fi_sim_settings set = small_settings();
    fi_sim_report report;

    (void)state;
    set.stop_every = 50;
    CHECK_INT(fi_sim_run(&set, &report), 0);
    CHECK(report.result > 0);
    CHECK(report.items < fi_tree_walk(&set.tree, 0, 1).count);
}

static void a_dead_rank_is_found_by_a_neighbour(void **state)
{
    fi_sim_settings set = small_settings();
    fi_sim_report report;

    (void)state;
    set.ranks = 20;
    set.silence_ns = 5000000000;
    set.outage_rank = 2;
    set.outage_ns = INT64_MAX;
    CHECK_INT(fi_sim_run(&set, &report), 0);
    CHECK(report.is_failed);
    CHECK_INT(report.failed_rank, 2);
    CHECK(report.failed_by == 0 || (report.failed_by >= 17 && report.failed_by < 20));
    CHECK(report.ns <= set.silence_ns + 2000000000);
}

static void a_deadlock_is_reported(void **state)
{
    fi_sim_settings set = small_settings();
    fi_sim_report report;

    (void)state;
    set.outage_rank = 2;
    set.outage_ns = INT64_MAX; /* and no rank checks heartbeats */
    CHECK_INT(fi_sim_run(&set, &report), -1);
    CHECK(strstr(report.error, "deadlock") != NULL);
}

/* The limit is for the whole process. */
static void the_largest_simulation_fits_into_a_gigabyte(void **state)
{
    fi_sim_settings set = small_settings();
    fi_sim_report report;
    struct rusage usage;

    (void)state;
    set.ranks = IS_SLOW ? 1024 : FI_SIM_RANKS_MAX;
    set.tree = fi_named_tree_make(fi_named_tree_find("G9"));
    set.item_ns = 10000;
    CHECK_INT(fi_sim_run(&set, &report), 0);
    CHECK_INT(getrusage(RUSAGE_SELF, &usage), 0);
    CHECK(usage.ru_maxrss < GIGABYTE_KB);
}

CHECK_MAIN(events_come_out_by_time_and_then_in_order,
           a_split_takes_every_second_item_from_the_old_end, a_tree_is_the_same_in_parts,
           the_named_trees_have_their_sizes, one_rank_needs_no_message,
           slow_ranks_count_as_what_they_can_do, a_wrong_number_of_items_is_found,
           a_result_of_a_handler_ends_the_run, a_dead_rank_is_found_by_a_neighbour,
           a_deadlock_is_reported, the_largest_simulation_fits_into_a_gigabyte)
