/* One execution: its threads run, each on a context of its own, until none can continue. */
#include "explore/execution.h"

#include "base/futex.h"

#include <string.h>

enum { STACK_BYTES = 64 * 1024 };

execution s;

static _Alignas(64) unsigned char stacks[MAX_THREADS][STACK_BYTES];

static void thread_main(void *arg)
{
    int id = (int)(intptr_t)arg;
    s.check->run(id);
    s.thread[id].ended = true;
    for (;;)
        go_home();
}

static bool others_ended(int t)
{
    for (int i = 0; i < s.check->threads; i++)
        if (i != t && (!s.thread[i].ended || machine_can_flush(i)))
            return false;
    return true;
}

static bool may_time_out(int i)
{
    const thread *t = &s.thread[i];
    return t->until != FI_FUTEX_FOREVER &&
           (!s.check->time_stands || (s.check->late & 1u << i && !t->overslept));
}

static bool enabled(int i)
{
    const thread *t = &s.thread[i];
    if (t->ended || (t->asleep_on && !may_time_out(i)) || (t->yielding && s.progress == t->saw) ||
        (t->joining && !others_ended(i)) || (t->awaits && x_peek(t->awaits) != 0))
        return false;
    return !t->needs_drained || !machine_can_flush(i);
}

/* The thread that ran last goes first, so that the first failure found has few changes of
 * thread. */
static int steps(int *step)
{
    int n = 0;
    for (int i = s.last; i < s.check->threads; i++)
        if (enabled(i))
            step[n++] = i;
    for (int i = 0; i < s.last; i++)
        if (enabled(i))
            step[n++] = i;
    for (int i = 0; i < s.check->threads && s.check->mode == MODE_TSO; i++)
        if (machine_can_flush(i))
            step[n++] = MAX_THREADS + i;
    return n;
}

static void take_step(int step)
{
    if (step >= MAX_THREADS) {
        machine_flush(step - MAX_THREADS);
        s.progress++;
        return;
    }
    s.running = s.last = step;
    fi_ctx_switch(&s.home, &s.thread[step].ctx);
    s.progress += !s.thread[step].spinning;
}

static bool all_ended(void)
{
    for (int i = 0; i < s.check->threads; i++)
        if (!s.thread[i].ended)
            return false;
    return true;
}

static void name_the_sleepers(void)
{
    size_t used = (size_t)snprintf(s.reason, sizeof s.reason, "no thread can continue:");
    for (int i = 0; i < s.check->threads; i++)
        if (!s.thread[i].ended && used < sizeof s.reason)
            used += (size_t)snprintf(s.reason + used, sizeof s.reason - used, " %s waits;",
                                     s.check->thread_name(i));
}

/* A thread that spins on an old value sees the newest one in another execution: a store is visible
 * after a finite time. */
static bool any_spins_on_stale(void)
{
    for (int i = 0; i < s.check->threads; i++)
        if (s.thread[i].yielding && s.thread[i].stale)
            return true;
    return false;
}

/* No thread can continue.  That is a valid end if all have ended or at_rest agrees. */
static void rest(void)
{
    s.ending = DONE;
    if (all_ended() || any_spins_on_stale())
        return;
    const char *wrong = s.check->at_rest ? s.check->at_rest() : "";
    if (!wrong)
        return;
    s.ending = FAILED;
    s.verdict = HANG;
    if (*wrong)
        snprintf(s.reason, sizeof s.reason, "%s", wrong);
    else
        name_the_sleepers();
}

/* No thread can continue before a deadline has come. */
static bool time_decides(const int *step, int n)
{
    for (int i = 0; i < n; i++)
        if (step[i] >= MAX_THREADS || !s.thread[step[i]].asleep_on)
            return false;
    return true;
}

static uint64_t thread_state(int i)
{
    const thread *t = &s.thread[i];
    bool may_retry = t->spinning && s.progress != t->saw;
    bool read_stale = t->spinning && t->stale; /* else x_yield clears it */
    const bool flags[] = {t->ended,         t->joining,
                          t->needs_drained, t->asleep_on != NULL,
                          t->yielding,      t->spinning,
                          may_retry,        t->awaits != NULL,
                          read_stale,       s.check->time_stands && t->overslept};
    uint64_t state = 0;
    for (size_t k = 0; k < sizeof flags / sizeof flags[0]; k++)
        state = state << 1 | flags[k];
    return machine_mix(t->history, state);
}

static bool is_seen(void)
{
    uint64_t h = machine_hash(thread_state, s.check->threads);
    return !states_add(machine_mix(h, s.check->summary ? s.check->summary() : 0));
}

void execution_start(void)
{
    machine_reset();
    s.next = s.operations = s.running = s.last = 0;
    s.progress = 0;
    s.setup = true;
    s.check->setup();
    s.setup = false;
    for (int i = 0; i < s.check->threads; i++) {
        memset(&s.thread[i], 0, sizeof s.thread[i]);
        s.thread[i].stack_low = stacks[i] + STACK_BYTES - STACK_SLACK;
        fi_ctx_make(&s.thread[i].ctx, stacks[i], STACK_BYTES, thread_main, (void *)(intptr_t)i);
    }
}

/* From the start, or from a snapshot. */
void execution_run(bool prune)
{
    s.ending = RUNNING;
    while (s.ending == RUNNING) {
        int step[2 * MAX_THREADS];
        int n = steps(step);
        if (n == 0) {
            rest();
            return;
        }
        if (prune && s.next >= s.replayed && is_seen()) {
            s.ending = SEEN;
            return;
        }
        if (prune && s.next >= s.replayed)
            snapshot_take();
        if (s.check->time_stands && time_decides(step, n)) {
            rest();
            if (s.ending == FAILED)
                return;
            s.ending = RUNNING;
        }
        take_step(step[search_choose((uint32_t)n)]);
    }
}

void execution_keep(void)
{
    x_keep(&s, sizeof s);
    x_keep(stacks, sizeof stacks);
}

void execution_copy(void (*copy)(void *p, size_t n))
{
    copy(&s.last, sizeof s.last);
    copy(&s.next, sizeof s.next);
    copy(&s.operations, sizeof s.operations);
    copy(&s.progress, sizeof s.progress);
    for (int i = 0; i < s.check->threads; i++) {
        copy(&s.thread[i], sizeof s.thread[i]);
        unsigned char *low = s.thread[i].stack_low;
        copy(low, (size_t)(stacks[i] + STACK_BYTES - low));
    }
}
