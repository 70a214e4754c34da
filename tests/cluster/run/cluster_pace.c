/* How long the communication thread sleeps. */
#include "check.h"

#include "run/pace.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

static void rings_allow_long_sleeps(void **state)
{
    fi_pace p;

    (void)state;
    fi_pace_init(&p, false, true);
    fi_pace_news(&p, 0);
    CHECK_INT(fi_pace_nap(&p, FI_PACE_RINGS, 0), 0); /* polls for a moment */
    CHECK_INT(fi_pace_nap(&p, FI_PACE_RINGS, 10 * US), INT64_MAX);
}

static void a_hungry_rank_polls_if_a_cpu_is_free(void **state)
{
    fi_pace p;

    (void)state;
    fi_pace_init(&p, false, true);
    CHECK_INT(fi_pace_nap(&p, FI_PACE_WORK, 100 * US), 0);
    CHECK_INT(fi_pace_nap(&p, FI_PACE_WORK, 200 * US), INT64_MAX);
    fi_pace_init(&p, false, false);
    CHECK_INT(fi_pace_nap(&p, FI_PACE_WORK, 100 * US), INT64_MAX);
}

/* Other nodes cannot ring.  The sleeps double up to a limit, and news make them short again. */
static void other_nodes_are_polled(void **state)
{
    int64_t last = 0, nap = 0;
    fi_pace p;

    (void)state;
    fi_pace_init(&p, true, false);
    CHECK_INT(fi_pace_nap(&p, FI_PACE_WORK, MS), 50 * US);
    for (int i = 0; i < 40; i++) {
        last = nap;
        nap = fi_pace_nap(&p, FI_PACE_WORK, MS);
        CHECK(nap >= last && nap <= MS);
    }
    CHECK_INT(nap, MS);
    fi_pace_news(&p, MS);
    CHECK_INT(fi_pace_nap(&p, FI_PACE_RINGS, 2 * MS), 200 * US);
}

static void help_is_given_again(void **state)
{
    fi_pace p;

    (void)state;
    fi_pace_init(&p, false, true);
    CHECK_INT(fi_pace_nap(&p, FI_PACE_HELP, MS), MS);
    for (int i = 0; i < 10; i++)
        CHECK(fi_pace_nap(&p, FI_PACE_HELP, MS) <= 16 * MS);
    CHECK_INT(fi_pace_nap(&p, FI_PACE_HELP, MS), 16 * MS);
}

CHECK_MAIN(rings_allow_long_sleeps, a_hungry_rank_polls_if_a_cpu_is_free, other_nodes_are_polled,
           help_is_given_again)
