/* explore_main: the exhaustive check of the protocol.  It visits all states of three ranks with at
 * most four items, in all orders of delivery, once for each of the bounds. */
#include "base/compiler.h"
#include "explore_model.h"

#include <inttypes.h>
#include <stdio.h>

/* Four times the states of the largest bounds.  More is a failure: the check is never cut short. */
#define STATES_MAX 4000000

#ifdef FILCH_EMULATED
#define IS_SLOW true
#else
#define IS_SLOW (FI_UNDER_ASAN || FI_UNDER_TSAN)
#endif

static void row_print(const x_bounds *bounds, const x_result *result)
{
    printf("%-30s %9" PRIu64 " %12" PRIu64 " %6u\n", bounds->name, result->states,
           result->transitions, result->depth);
    fflush(stdout);
}

/* Returns false: a rule is broken.  The actions that lead to it are printed. */
static bool bounds_check(const x_bounds *bounds)
{
    x_result result = x_search(bounds, STATES_MAX, true);

    row_print(bounds, &result);
    if (result.error[0] != '\0')
        printf("%s: FAILED: %s\n", bounds->name, result.error);
    return result.error[0] == '\0';
}

int main(void)
{
    unsigned failures = 0, left_out = 0;

    printf("%-30s %9s %12s %6s\n", "bounds", "states", "transitions", "depth");
    for (const x_bounds *b = x_all_bounds; b->name; b++) {
        if (IS_SLOW && b->is_large)
            left_out++;
        else
            failures += !bounds_check(b);
    }
    if (left_out > 0)
        printf("%u bounds are left out: this build is slow\n", left_out);
    return failures > 0;
}
