/* The search: every choice is made once.
 *
 * An execution is determined by its list of choices.  The search runs one to its end, then goes
 * back to the last choice that has an option left (depth first): it restores the snapshot before it
 * and repeats the choices from there.  It gives up an execution when its state was seen before:
 * memory, views, and for each thread a hash of all it has read, which determines its stack.
 */
#include "explore/execution.h"

#include <stdlib.h>
#include <time.h>

uint32_t search_choose(uint32_t options)
{
    if (options == 1)
        return 0;
    if (options == 0 || options > UINT8_MAX || s.next == MAX_CHOICES)
        x_fail(LIMIT, "the explorer cannot choose one of %u", options);
    if (s.next == s.choices)
        s.choice[s.choices++] = (choice){(uint8_t)options, 0};
    choice c = s.choice[s.next++];
    if (c.options != options) { /* the same choices must lead to the same options */
        fprintf(stderr, "explore: an execution could not be repeated\n");
        abort();
    }
    return c.picked;
}

/* Drop the choices whose options are used up; false when there is none left. */
static bool backtrack(void)
{
    s.choices = s.next;
    while (s.choices > 0) {
        choice *last = &s.choice[s.choices - 1];
        if (++last->picked < last->options) {
            s.replayed = s.choices;
            return true;
        }
        s.choices--;
    }
    return false;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

outcome explore(const check *c)
{
    outcome out = {.complete = true};
    double began = now();
    s.check = c;
    s.choices = s.replayed = 0;
    s.total_operations = 0;
    fi_ctx_init_thread(&s.home);
    machine_begin(c);
    states_reset();
    snapshot_reset();
    do {
        if (!snapshot_restore(s.choices - 1))
            execution_start();
        execution_run(true);
        out.executions++;
        out.complete &= s.ending != TOO_LONG;
        if (s.ending == RESTART) {
            s.choices = s.next = s.replayed = 0;
            states_reset();
            snapshot_reset();
        }
    } while (s.ending != FAILED && (s.ending == RESTART || backtrack()));
    if (s.ending == FAILED) {
        out.verdict = s.verdict;
        snprintf(out.reason, sizeof out.reason, "%s", s.reason);
    }
    out.states = states_count();
    out.operations = s.total_operations;
    out.seconds = now() - began;
    return out;
}

void explore_print_trace(const check *c, FILE *to)
{
    trace_start(c, to);
    tracing = true;
    execution_start();
    execution_run(false);
    tracing = false;
    fprintf(to, "  => %s\n", s.reason);
}
