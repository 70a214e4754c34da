/* The log keeps its first entries, and counts the others. */
#include "check.h"

#include "observe/loot_log.h"

static void entries_are_kept_in_order(void **state)
{
    fi_loot_log log;

    (void)state;
    fi_loot_log_init(&log);
    for (uint64_t i = 0; i < 5000; i++) {
        fi_loot entry = {.number = i};
        fi_loot_log_append(&log, &entry);
    }
    CHECK_INT(log.n, 5000);
    CHECK_INT(log.dropped, 0);
    for (uint64_t i = 0; i < 5000; i++)
        CHECK_INT(log.entries[i].number, i);
    fi_loot_log_fini(&log);
    CHECK_INT(log.n, 0);
    CHECK(log.entries == NULL);
}

static void a_full_log_drops_entries(void **state)
{
    fi_loot_log log;

    (void)state;
    fi_loot_log_init(&log);
    for (uint64_t i = 0; i < FI_LOOT_LOG_MAX + 10; i++) {
        fi_loot entry = {.number = i};
        fi_loot_log_append(&log, &entry);
    }
    CHECK_INT(log.n, FI_LOOT_LOG_MAX);
    CHECK_INT(log.dropped, 10);
    CHECK_INT(log.entries[FI_LOOT_LOG_MAX - 1].number, FI_LOOT_LOG_MAX - 1);
    fi_loot_log_fini(&log);
}

CHECK_MAIN(entries_are_kept_in_order, a_full_log_drops_entries)
