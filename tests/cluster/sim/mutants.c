/* mutants DIRECTORY [FAULT...]: turn on one fault of the protocol at a time, and expect that the
 * exhaustive check or the random check finds it.  DIRECTORY has the sources of the protocol, which
 * name all faults.  This program is compiled with FI_PROTOCOL_FAULTS. */
#include "explore_model.h"
#include "fault_names.h"
#include "protocol/fault.h"
#include "random_settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { STATES_MAX = 4000000, SETTINGS = 5000, SETTINGS_WITHOUT_FAULT = 100 };

static const char *fault; /* NULL: none */

bool fi_protocol_has_fault(const char *name)
{
    return fault && strcmp(name, fault) == 0;
}

/* What a check has found; empty: nothing. */
typedef struct finding {
    char text[400];
} finding;

static finding explore(const x_bounds *bounds)
{
    x_result r = x_search(bounds, STATES_MAX, false);
    finding f = {0};

    if (r.error[0] != '\0')
        snprintf(f.text, sizeof f.text, "%s, %" PRIu64 " states: %s", bounds->name, r.states,
                 r.error);
    return f;
}

static finding explore_all(bool is_large)
{
    finding f = {0};

    for (const x_bounds *b = x_all_bounds; b->name && f.text[0] == '\0'; b++)
        if (b->is_large == is_large)
            f = explore(b);
    return f;
}

static finding simulate(const char *name, uint64_t seed, const fi_sim_settings *set)
{
    sim_verdict v = sim_check(set);
    finding f = {0};

    if (v.error[0] != '\0')
        snprintf(f.text, sizeof f.text, "%s, seed %" PRIu64 ": %s", name, seed, v.error);
    return f;
}

static finding simulate_all(unsigned n)
{
    fi_sim_settings set = crowd_settings(1);
    finding f = simulate("crowd", 1, &set);

    for (uint64_t seed = 1; seed <= n && f.text[0] == '\0'; seed++) {
        set = random_settings(seed);
        f = simulate("random settings", seed, &set);
    }
    return f;
}

/* The cheap checks come first. */
static finding fault_find(void)
{
    finding f = explore_all(false);

    if (f.text[0] == '\0')
        f = simulate_all(SETTINGS);
    if (f.text[0] == '\0')
        f = explore_all(true);
    return f;
}

/* Returns false: the fault is not found. */
static bool fault_check(const char *name)
{
    finding f;

    fault = name;
    f = fault_find();
    fault = NULL;
    printf("%-30s %s\n", name, f.text[0] != '\0' ? f.text : "NOT FOUND");
    fflush(stdout);
    return f.text[0] != '\0';
}

/* The checks must not blame a protocol without faults. */
static bool base_check(void)
{
    finding f = explore_all(false);

    if (f.text[0] == '\0')
        f = simulate_all(SETTINGS_WITHOUT_FAULT);
    if (f.text[0] != '\0')
        printf("without a fault: FAILED: %s\n", f.text);
    return f.text[0] == '\0';
}

static bool is_chosen(int argc, char **argv, const char *name)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc == 2;
}

int main(int argc, char **argv)
{
    fault_names list;
    unsigned n = 0, n_missed;
    int e = argc > 1 ? fault_names_read(argv[1], &list) : -1;

    if (e != 0) {
        fprintf(stderr, "usage: mutants DIRECTORY [FAULT...]; the sources cannot be read: %d\n", e);
        return 2;
    }
    n_missed = !base_check();
    for (size_t i = 0; i < list.n; i++)
        if (is_chosen(argc, argv, list.names[i])) {
            n_missed += !fault_check(list.names[i]);
            n++;
        }
    printf("%u faults, %u not found\n", n, n_missed);
    return n == 0 || n_missed > 0;
}
