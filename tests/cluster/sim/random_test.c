/* The protocol with random settings.  FILCH_SEED=N repeats all of them.  A failure prints the seed
 * of its settings, and FILCH_SEED=N FILCH_SETTINGS=1 repeats these alone. */
#include "base/compiler.h"
#include "check.h"
#include "random_settings.h"
#include "seed.h"

#ifdef FILCH_EMULATED
enum { SETTINGS = 100 };
#else
enum { SETTINGS = FI_UNDER_ASAN || FI_UNDER_TSAN ? 200 : 1000 };
#endif

enum { REPEAT_ONE_IN = 10 };

static uint64_t first_seed;

static unsigned n_settings(void)
{
    const char *given = getenv("FILCH_SETTINGS");

    return given ? (unsigned)strtoul(given, NULL, 10) : SETTINGS;
}

static void settings_print(uint64_t seed, const fi_sim_settings *s)
{
    printf("FILCH_SEED=%" PRIu64 " FILCH_SETTINGS=1: %u ranks, %u roots, %u runs, item %" PRId64
           " ns, latency %" PRId64 " ns, jitter %g, reorder %d, %u slow, wake-up %" PRId64
           " ns, %u tries, outage of rank %u at %" PRId64 " for %" PRId64 " ns\n",
           seed, s->ranks, s->roots, s->runs, s->item_ns, s->latency_ns, s->jitter, s->reorder,
           s->n_slow, s->wake_ns, s->random_tries, s->outage_rank, s->outage_at, s->outage_ns);
}

/* What the settings have covered. */
typedef struct coverage {
    uint64_t loots, gifts, refusals;
    unsigned deaths, stops, results;
} coverage;

static void coverage_add(coverage *c, const fi_sim_settings *set, const fi_sim_report *r)
{
    c->loots += r->loots;
    c->gifts += r->gifts;
    c->refusals += r->refusals;
    c->deaths += r->is_failed;
    c->stops += set->outage_ns != 0 && set->outage_ns != INT64_MAX && r->ns > set->outage_at;
    c->results += r->result != 0;
}

static void one_check(uint64_t seed, coverage *c)
{
    fi_sim_settings set = random_settings(seed);
    sim_verdict v = sim_check(&set);

    if (v.error[0] != '\0') {
        settings_print(seed, &set);
        printf("%s\n", v.error);
    }
    CHECK(v.error[0] == '\0');
    coverage_add(c, &set, &v.report);
}

static void the_rules_hold_in_random_settings(void **state)
{
    coverage c = {0};
    unsigned n = n_settings();

    (void)state;
    for (unsigned i = 0; i < n; i++)
        one_check(first_seed + i, &c);
    printf("%u settings: %" PRIu64 " loots as answers, %" PRIu64 " over lifelines, %" PRIu64
           " refusals, %u runs with a result, %u stops, %u deaths\n",
           n, c.loots, c.gifts, c.refusals, c.results, c.stops, c.deaths);
    if (n >= SETTINGS)
        CHECK(c.loots > 0 && c.gifts > 0 && c.refusals > 0 && c.results > 0 && c.stops > 0 &&
              c.deaths > 0);
}

static void the_same_seed_gives_the_same_events(void **state)
{
    unsigned n_other = 0;

    (void)state;
    for (unsigned i = 0; i < n_settings(); i += REPEAT_ONE_IN) {
        fi_sim_settings set = random_settings(first_seed + i);
        sim_verdict a = sim_check(&set), b = sim_check(&set);

        CHECK(a.report.events == b.report.events && a.report.hash == b.report.hash &&
              a.report.ns == b.report.ns);
        set.seed++;
        n_other += sim_check(&set).report.hash != a.report.hash;
    }
    CHECK(n_other > 0 || n_settings() < SETTINGS);
}

static void a_rank_holds_64_questions(void **state)
{
    fi_sim_settings set = crowd_settings(first_seed);
    sim_verdict v = sim_check(&set);

    (void)state;
    CHECK_STR(v.error, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(the_rules_hold_in_random_settings),
        CHECK_TEST(the_same_seed_gives_the_same_events),
        CHECK_TEST(a_rank_holds_64_questions),
    };

    first_seed = seed_get();
    return CHECK_RUN(tests);
}
