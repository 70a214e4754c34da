#include "random_settings.h"

#include "sim/random.h"

#include <math.h>
#include <stdio.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

/* The spec allows a dead rank to go unnoticed for this time after silence_ns. */
#define NOTICE_NS (2 * S)

/* A neighbour is silent for up to 2 s between two heartbeats, and a stop of 2 s adds to that. */
#define SILENCE_MIN (5 * S)

enum { RANKS_MIN = 2, RANKS_MAX = 40, RUNS_MAX = 3, EVENTS_MAX = 20000000 };

static uint64_t between(uint64_t *random, uint64_t min, uint64_t max)
{
    return min + fi_random_below(random, max - min + 1);
}

static bool one_in(uint64_t *random, unsigned n)
{
    return fi_random_below(random, n) == 0;
}

/* From min to max, which are above 0.  Each power of two is as likely as the others. */
static int64_t scaled(uint64_t *random, int64_t min, int64_t max)
{
    return (int64_t)((double)min * pow((double)max / (double)min, fi_random_fraction(random)));
}

/* ---- parts of the settings ---- */

/* From one item to some ten thousands. */
static void work_choose(uint64_t *random, fi_sim_settings *set)
{
    uint64_t seed = fi_random(random);

    if (one_in(random, 2))
        set->tree = fi_tree_binomial(seed, (unsigned)between(random, 0, 200),
                                     0.199 * fi_random_fraction(random), 5);
    else
        set->tree = fi_tree_geometric(seed, (unsigned)between(random, 0, 8),
                                      1 + 2 * fi_random_fraction(random));
    set->roots = one_in(random, 2) ? 1 : (unsigned)between(random, 0, 2 * (uint64_t)set->ranks);
    set->item_ns = scaled(random, 50, 200 * US);
    if (one_in(random, 3)) {
        set->n_slow = (unsigned)between(random, 1, set->ranks);
        set->slow_factor = 1 + 30 * fi_random_fraction(random);
    }
}

static void network_choose(uint64_t *random, fi_sim_settings *set)
{
    static const double jitters[] = {0, 1, 10, 100};

    set->latency_ns = scaled(random, 100, 50 * US);
    set->jitter = jitters[between(random, 0, 3)];
    set->reorder = one_in(random, 2);
    set->byte_ns = fi_random_fraction(random);
    set->wake_ns = one_in(random, 2) ? 0 : scaled(random, 100, MS);
    set->probe_ns = one_in(random, 2) ? 0 : scaled(random, 100, MS);
}

static void protocol_choose(uint64_t *random, fi_sim_settings *set)
{
    set->loot_bytes = sizeof(fi_item) * (size_t)scaled(random, 1, 2048);
    set->random_tries = (unsigned)between(random, 0, 4);
    set->answer_ns = one_in(random, 4) ? 0 : scaled(random, US, 10 * MS);
}

static void runs_choose(uint64_t *random, fi_sim_settings *set)
{
    set->runs = (unsigned)between(random, 1, RUNS_MAX);
    set->enter_ns = one_in(random, 2) ? 0 : scaled(random, US, 10 * MS);
    if (one_in(random, 4))
        set->stop_every = between(random, 1, 2000);
    if (one_in(random, 5)) {
        set->mismatch_run = (unsigned)between(random, 1, set->runs);
        set->mismatch_rank = (unsigned)between(random, 0, set->ranks - 1);
    }
}

/* A stop of 2 s, or a death. */
static void outage_choose(uint64_t *random, fi_sim_settings *set)
{
    set->silence_ns = (int64_t)between(random, SILENCE_MIN, 10 * S);
    set->outage_rank = (unsigned)between(random, 0, set->ranks - 1);
    set->outage_at = (int64_t)between(random, 0, one_in(random, 2) ? 100 * US : 20 * MS);
    set->outage_ns = one_in(random, 2) ? 2 * S : INT64_MAX;
}

fi_sim_settings random_settings(uint64_t seed)
{
    uint64_t random = seed;
    fi_sim_settings set = fi_sim_defaults();

    set.seed = fi_random(&random);
    set.ranks = (unsigned)between(&random, RANKS_MIN, RANKS_MAX);
    set.events_max = EVENTS_MAX;
    work_choose(&random, &set);
    network_choose(&random, &set);
    protocol_choose(&random, &set);
    runs_choose(&random, &set);
    if (one_in(&random, 4))
        outage_choose(&random, &set);
    return set;
}

fi_sim_settings crowd_settings(uint64_t seed)
{
    fi_sim_settings set = fi_sim_defaults();

    set.seed = seed;
    set.ranks = 150;
    set.tree = fi_tree_binomial(seed, 3, 0, 5);
    set.item_ns = 10 * MS;
    set.random_tries = 10000;
    set.answer_ns = 100 * MS;
    set.events_max = EVENTS_MAX;
    return set;
}

/* ---- the report ---- */

static const char *failure_error(const fi_sim_settings *set, const fi_sim_report *report)
{
    bool is_dead = set->outage_ns == INT64_MAX;

    if (!report->is_failed)
        return NULL; /* all ranks left all runs, so the rank died after that */
    if (!is_dead)
        return "a rank that is alive is found dead";
    if (report->failed_rank != set->outage_rank)
        return "another rank than the dead one is found dead";
    if (report->ns > set->outage_at + set->silence_ns + NOTICE_NS)
        return "a dead rank is found too late";
    return NULL;
}

sim_verdict sim_check(const fi_sim_settings *set)
{
    sim_verdict v = {0};
    const char *error = NULL;

    fi_sim_run(set, &v.report);
    if (v.report.error[0] != '\0')
        error = v.report.error;
    else
        error = failure_error(set, &v.report);
    if (error)
        snprintf(v.error, sizeof v.error, "%s", error);
    return v;
}
