/* The table of counters names the ranks with the smallest and the largest value. */
#include "messages.h"

#include "observe/stats_table.h"

static void one_rank_has_one_value(void **state)
{
    fi_rank_stats row = {.items = 42, .run_ns = 1500000000, .runs = 1};

    (void)state;
    messages_reset();
    fi_stats_table_print(&row, 1);
    CHECK(strstr(messages, "counters of 1 rank, 1 run, 1.500 s\n") == messages);
    CHECK(strstr(messages,
                 "\nitems                                        42               42     0"
                 "               42               42     0\n"));
    CHECK_INT(n_messages, 2 + offsetof(fi_rank_stats, workers) / sizeof(uint64_t));
}

static void values_are_sorted(void **state)
{
    fi_rank_stats rows[4] = {
        {.items = 30, .runs = 3}, {.items = 10}, {.items = 1000}, {.items = 20}};

    (void)state;
    rows[3].run_ns = 2000000000;
    rows[2].protocol.hungry_ns = UINT64_C(12345678901234);
    rows[1].workers.parks = 7;
    messages_reset();
    fi_stats_table_print(rows, 4);
    CHECK(strstr(messages, "counters of 4 ranks, 3 runs, 2.000 s\n"));
    CHECK(strstr(messages,
                 "\nitems                                      1060               10     1"
                 "               25             1000     2\n"));
    CHECK(strstr(messages,
                 "\nhungry_ns                        12345678901234                0     0"
                 "                0   12345678901234     2\n"));
    CHECK(strstr(messages,
                 "\nparks                                         7                0     0"
                 "                0                7     1\n"));
    fi_stats_table_print(rows, 3);
    CHECK(strstr(messages,
                 "\nitems                                      1040               10     1"
                 "               30             1000     2\n"));
}

/* The middle of two large values does not overflow. */
static void large_values_have_a_median(void **state)
{
    fi_rank_stats rows[2] = {{.items = UINT64_MAX}, {.items = UINT64_MAX - 2}};

    (void)state;
    messages_reset();
    fi_stats_table_print(rows, 2);
    CHECK(strstr(messages, " 18446744073709551614 "));
}

static void no_rank_prints_nothing(void **state)
{
    (void)state;
    messages_reset();
    fi_stats_table_print(NULL, 0);
    CHECK_INT(n_messages, 0);
}

CHECK_MAIN(one_rank_has_one_value, values_are_sorted, large_values_have_a_median,
           no_rank_prints_nothing)
