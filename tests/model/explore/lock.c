/* A lock that is nothing but a lock: an acquire to take it, a release to give it back, and who finds it
 * taken waits without a trace.  For parts that use one; how ours does it (base/lock.c) is checked with the
 * locked deque, and would multiply their states. */
#include "explore/machine.h"

#include "base/lock.h"

void x_lock(fi_lock *l)
{
    static site s = {"lock", "(lock)", ORDER_ACQUIRE, ORDER_ACQUIRE, 0, sizeof l->word};
    machine_is_lock(&l->word);
    search_await_zero(&l->word);
    x_exchange(&l->word, 1, &s);
}

void x_unlock(fi_lock *l)
{
    search_unlocks();
    static site s = {"lock", "(unlock)", ORDER_RELEASE, ORDER_RELEASE, 0, sizeof l->word};
    x_exchange(&l->word, 0, &s);
}
