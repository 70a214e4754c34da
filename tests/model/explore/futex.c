/* The kernel's part of a futex: sleeping on a word. */
#include "explore/execution.h"

#include "base/clock.h"
#include "base/futex.h"

#include <errno.h>

/* For code that polls before it sleeps, which is not compiled into the checks. */
int64_t fi_clock_now(void)
{
    return 0;
}

/* A deadline may come at any moment. */
static int sleep_on(thread *t, const void *word, int64_t until)
{
    x_say("sleeps");
    t->asleep_on = word;
    t->until = until;
    search_read(4);
    go_home();
    bool woken = t->asleep_on == NULL;
    t->overslept |= !woken;
    t->asleep_on = NULL;
    x_say(woken ? "is woken" : "times out");
    search_read(woken);
    return woken ? 0 : -ETIMEDOUT;
}

/* Spurious wake-ups are not explored: a caller that handles a deadline handles them too. */
int fi_futex_wait(FI_ATOMIC(uint32_t) * word, uint32_t expected, int64_t deadline_ns)
{
    search_operation();
    search_point_before(true);
    machine_enter_kernel();
    if ((uint32_t)machine_newest(word) != expected) {
        search_read(3);
        search_point_after();
        return -EAGAIN;
    }
    return sleep_on(running_thread(), word, deadline_ns);
}

static int sleepers(const void *word, int *asleep)
{
    int n = 0;
    for (int i = 0; i < s.check->threads; i++)
        if (s.thread[i].asleep_on == word)
            asleep[n++] = i;
    return n;
}

/* The word itself is not read: it may have been freed. */
int fi_futex_wake(FI_ATOMIC(uint32_t) * word, int count)
{
    search_operation();
    search_point_before(true);
    machine_enter_kernel();
    int woken = 0, asleep[MAX_THREADS];
    for (int n; woken < count && (n = sleepers(word, asleep)) > 0; woken++)
        s.thread[asleep[search_choose((uint32_t)n)]].asleep_on = NULL;
    search_read((uint64_t)woken);
    search_point_after();
    return woken;
}

const void *x_asleep_on(int t)
{
    return s.thread[t].asleep_on ? s.thread[t].asleep_on : s.thread[t].awaits;
}

int64_t x_asleep_until(int t)
{
    return s.thread[t].until;
}
