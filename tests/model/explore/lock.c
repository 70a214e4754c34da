/* A simple lock: an acquire to lock it, a release to unlock it, and a thread that finds it locked
 * waits outside the machine.  For the checks of parts that use a lock: base/lock.c would multiply
 * their states.  The checks of the locked deque check base/lock.c itself. */
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
