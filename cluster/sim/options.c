#include "sim/options.h"

#include "args.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define US 1e3
#define MS 1e6

#define RUNS_MAX     1000
#define TRIES_MAX    1000
#define LOOT_MIN     ((long)sizeof(fi_item))
#define LOOT_MAX     (1L << 30)
#define TIME_US_MAX  1e6
#define TIME_MS_MAX  1e6
#define JITTER_MAX   1e4
#define FACTOR_MAX   1e4
#define DEFAULT_TREE "G9"

enum {
    OPTION_QUICK = 256,
    OPTION_TREE,
    OPTION_RANKS,
    OPTION_SEED,
    OPTION_ITEM,
    OPTION_SLOW,
    OPTION_SLOW_FACTOR,
    OPTION_LATENCY,
    OPTION_JITTER,
    OPTION_REORDER,
    OPTION_WAKE_UP,
    OPTION_LOOT,
    OPTION_TRIES,
    OPTION_ANSWER,
    OPTION_RUNS,
    OPTION_OUTAGE,
    OPTION_OUTAGE_AT,
    OPTION_OUTAGE_FOR,
    OPTION_SILENCE,
};

static const struct option known[] = {{"quick", no_argument, NULL, OPTION_QUICK},
                                      {"tree", required_argument, NULL, OPTION_TREE},
                                      {"ranks", required_argument, NULL, OPTION_RANKS},
                                      {"seed", required_argument, NULL, OPTION_SEED},
                                      {"item", required_argument, NULL, OPTION_ITEM},
                                      {"slow", required_argument, NULL, OPTION_SLOW},
                                      {"slow-factor", required_argument, NULL, OPTION_SLOW_FACTOR},
                                      {"latency", required_argument, NULL, OPTION_LATENCY},
                                      {"jitter", required_argument, NULL, OPTION_JITTER},
                                      {"reorder", no_argument, NULL, OPTION_REORDER},
                                      {"wake-up", required_argument, NULL, OPTION_WAKE_UP},
                                      {"loot", required_argument, NULL, OPTION_LOOT},
                                      {"tries", required_argument, NULL, OPTION_TRIES},
                                      {"answer", required_argument, NULL, OPTION_ANSWER},
                                      {"runs", required_argument, NULL, OPTION_RUNS},
                                      {"outage", required_argument, NULL, OPTION_OUTAGE},
                                      {"outage-at", required_argument, NULL, OPTION_OUTAGE_AT},
                                      {"outage-for", required_argument, NULL, OPTION_OUTAGE_FOR},
                                      {"silence", required_argument, NULL, OPTION_SILENCE},
                                      COMMON_OPTIONS};

static void print_help(void)
{
    printf(
        "usage: filch cluster sim [--quick]\n"
        "       filch cluster sim OPTION...\n\n"
        "Simulates the protocol of filch-mpi in virtual time: all ranks in one thread, with a "
        "model of the\n"
        "network and of the items.  The protocol is the one of the library.  After each event its "
        "rules are\n"
        "checked.\n\n"
        "Without a setting: prints two tables of the efficiency up to 16,384 ranks, with the "
        "goals.  In the\n"
        "first one, a sleeping thread wakes up at once; in the second one, after 0 to 50 us.  "
        "This takes\n"
        "minutes.\n\n"
        "      --quick           small trees, in a second; without goals\n\n"
        "One setting:\n"
        "      --tree NAME       the items: nodes of a tree (" DEFAULT_TREE ")\n"
        "      --ranks N         1 to %u (64)\n"
        "      --item US         time of an item, 0.001 or more (0.22)\n"
        "      --slow N          ranks that are slower (0)\n"
        "      --slow-factor X   ... by this factor (10)\n"
        "      --latency US      of a message (2)\n"
        "      --jitter X        a message takes 1 to 1 + X latencies (0)\n"
        "      --reorder         each 8th message is late by up to 20 latencies\n"
        "      --wake-up US      a sleeping thread wakes up after 0 to US (0)\n"
        "      --loot BYTES      max bytes of a loot (32768)\n"
        "      --tries N         random ranks to ask before the lifelines (2)\n"
        "      --answer US       time that a question waits for work (200)\n"
        "      --runs N          runs, one after the other (1)\n"
        "      --outage RANK     this rank stops ...\n"
        "      --outage-at MS    ... at this time (0) ...\n"
        "      --outage-for MS   ... for this time (for ever)\n"
        "      --silence MS      a rank that is silent for this time is dead (10000)\n"
        "      --seed N          of all random numbers (1)\n"
        "  -h, --help            print this text\n"
        "  -V, --version         print the version\n\n"
        "trees\n",
        FI_SIM_RANKS_MAX);
    for (const fi_named_tree *t = fi_named_trees; t->name; t++)
        printf("  %-8s %s\n", t->name, t->about);
}

/* ---- values ---- */

static double decimal_arg(const char *word, const char *what, double min, double max)
{
    char *end;
    double value;

    errno = 0;
    value = strtod(word, &end);
    if (word[0] < '0' || word[0] > '9' || *end != '\0' || errno != 0 || !isfinite(value) ||
        value < min || value > max)
        usage_error("cluster sim: %s takes a number from %g to %g (got '%s')", what, min, max,
                    word);
    return value;
}

static int64_t time_arg(const char *word, const char *what, double min, double max, double unit)
{
    return llround(decimal_arg(word, what, min, max) * unit);
}

static uint64_t seed_arg(const char *word)
{
    char *end;
    uint64_t value;

    errno = 0;
    value = strtoull(word, &end, 0);
    if (word[0] < '0' || word[0] > '9' || *end != '\0' || errno != 0)
        usage_error("cluster sim: --seed takes a number from 0 to %" PRIu64 " (got '%s')",
                    UINT64_MAX, word);
    return value;
}

static const fi_named_tree *tree_arg(const char *word)
{
    const fi_named_tree *found = fi_named_tree_find(word);

    if (!found)
        usage_error("cluster sim: unknown tree '%s'; see --help for the names", word);
    return found;
}

/* ---- options ---- */

/* Options of the work.  Returns false: the option is not one of them. */
static bool work_option(int letter, fi_sim_options *o)
{
    fi_sim_settings *set = &o->set;

    switch (letter) {
    case OPTION_TREE:
        o->tree = tree_arg(optarg);
        return true;
    case OPTION_ITEM:
        set->item_ns = time_arg(optarg, "--item", 0.001, TIME_US_MAX, US);
        return true;
    case OPTION_SLOW:
        set->n_slow = (unsigned)number_arg(optarg, "cluster sim: --slow", 0, FI_SIM_RANKS_MAX);
        return true;
    case OPTION_SLOW_FACTOR:
        set->slow_factor = decimal_arg(optarg, "--slow-factor", 1, FACTOR_MAX);
        return true;
    case OPTION_RANKS:
        set->ranks = (unsigned)number_arg(optarg, "cluster sim: --ranks", 1, FI_SIM_RANKS_MAX);
        return true;
    case OPTION_RUNS:
        set->runs = (unsigned)number_arg(optarg, "cluster sim: --runs", 1, RUNS_MAX);
        return true;
    case OPTION_SEED:
        set->seed = seed_arg(optarg);
        return true;
    default:
        return false;
    }
}

static bool network_option(int letter, fi_sim_settings *set)
{
    switch (letter) {
    case OPTION_LATENCY:
        set->latency_ns = time_arg(optarg, "--latency", 0, TIME_US_MAX, US);
        return true;
    case OPTION_JITTER:
        set->jitter = decimal_arg(optarg, "--jitter", 0, JITTER_MAX);
        return true;
    case OPTION_REORDER:
        set->reorder = true;
        return true;
    case OPTION_WAKE_UP:
        set->wake_ns = time_arg(optarg, "--wake-up", 0, TIME_US_MAX, US);
        return true;
    case OPTION_LOOT:
        set->loot_bytes = (size_t)number_arg(optarg, "cluster sim: --loot", LOOT_MIN, LOOT_MAX);
        return true;
    case OPTION_TRIES:
        set->random_tries = (unsigned)number_arg(optarg, "cluster sim: --tries", 0, TRIES_MAX);
        return true;
    case OPTION_ANSWER:
        set->answer_ns = time_arg(optarg, "--answer", 0, TIME_US_MAX, US);
        return true;
    default:
        return false;
    }
}

static void failure_option(int letter, fi_sim_settings *set)
{
    switch (letter) {
    case OPTION_OUTAGE:
        set->outage_rank =
            (unsigned)number_arg(optarg, "cluster sim: --outage", 0, FI_SIM_RANKS_MAX - 1);
        if (set->outage_ns == 0)
            set->outage_ns = INT64_MAX;
        break;
    case OPTION_OUTAGE_AT:
        set->outage_at = time_arg(optarg, "--outage-at", 0, TIME_MS_MAX, MS);
        break;
    case OPTION_OUTAGE_FOR:
        set->outage_ns = time_arg(optarg, "--outage-for", 0.001, TIME_MS_MAX, MS);
        break;
    case OPTION_SILENCE:
        set->silence_ns = time_arg(optarg, "--silence", 1000, TIME_MS_MAX, MS);
        break;
    default:
        abort(); /* an option without a case */
    }
}

/* What the single options cannot check. */
static void options_check(const fi_sim_options *o, bool has_outage)
{
    if (o->is_quick && o->is_one)
        usage_error("cluster sim: --quick prints tables; it excludes the other options");
    if (o->set.n_slow > o->set.ranks)
        usage_error("cluster sim: --slow: %u of %u ranks", o->set.n_slow, o->set.ranks);
    if (!has_outage && (o->set.outage_ns != 0 || o->set.outage_at != 0))
        usage_error("cluster sim: --outage-at and --outage-for need --outage");
    if (has_outage && o->set.outage_rank >= o->set.ranks)
        usage_error("cluster sim: --outage: there is no rank %u of %u", o->set.outage_rank,
                    o->set.ranks);
    if (has_outage && o->set.ranks == 1)
        usage_error("cluster sim: --outage needs 2 ranks or more");
}

fi_sim_options fi_sim_options_parse(int argc, char **argv)
{
    fi_sim_options o = {.tree = fi_named_tree_find(DEFAULT_TREE), .set = fi_sim_defaults()};
    bool has_outage = false;
    int letter;

    o.set.slow_factor = 10;
    while ((letter = next_option(argc, argv, "+:hV", known, print_help)) != -1) {
        o.is_quick |= letter == OPTION_QUICK;
        o.is_one |= letter != OPTION_QUICK;
        has_outage |= letter == OPTION_OUTAGE;
        if (letter != OPTION_QUICK && !work_option(letter, &o) && !network_option(letter, &o.set))
            failure_option(letter, &o.set);
    }
    if (optind < argc)
        usage_error("cluster sim takes no arguments (got '%s')", argv[optind]);
    options_check(&o, has_outage);
    if (has_outage && o.set.silence_ns == 0)
        o.set.silence_ns = INT64_C(10000000000);
    return o;
}
