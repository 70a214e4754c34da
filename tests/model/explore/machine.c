/* The memory of the explorer: a view machine.
 *
 * Each location has the list of its stores in modification order.  A *view* says, per location, up
 * to which store something is known.  Each thread has three views (after Kang et al., "A Promising
 * Semantics", 2017, without promises):
 *   cur  what it has seen: it may read any store that is not older
 *   acq  what an acquire fence would add: the views of all stores read, with or without acquire
 *   rel  what a relaxed store passes on: cur at the last release fence
 * Each store carries a view for the threads that acquire it.  A release store carries cur; a
 * read-modify-write adds what the store it replaces carried, which is C11's release sequence since
 * 2020: another store of the same thread does not continue it.  A seq_cst fence exchanges views
 * with one global view.
 *
 * tso is the same machine without that freedom (a load reads the newest store), and with a buffer
 * before each store.
 */
#include "explore/memory.h"

#include <string.h>

machine m;

void machine_begin(const check *c)
{
    m.check = c;
    order_new_check();
    sole_writer_reset();
}

void machine_reset(void)
{
    memset(m.thread, 0, sizeof m.thread);
    memset(&m.fences, 0, sizeof m.fences);
    memset(&m.heavy, 0, sizeof m.heavy);
    memset(m.data, 0, sizeof m.data);
    for (int i = 0; i < MAX_THREADS; i++)
        m.thread[i].cur.clock[i] = m.thread[i].acq.clock[i] = 1;
    m.locations = 0;
    arena_reset();
}

void machine_join(int thread, int threads)
{
    for (int i = 0; i < threads; i++) {
        settle_all(&m.thread[i]);
        view_join(&m.thread[thread].cur, &m.thread[i].acq);
        view_join(&m.thread[thread].acq, &m.thread[i].acq);
    }
}

void machine_keep(void)
{
    x_keep(&m, sizeof m);
    arena_keep();
    sole_writer_keep();
}

static void location_copy(location *l, void (*copy)(void *p, size_t n))
{
    copy(l, offsetof(location, store));
    copy(l->store, l->stores * sizeof l->store[0]);
}

void machine_copy(void (*copy)(void *p, size_t n))
{
    copy(m.thread, (size_t)m.check->threads * sizeof m.thread[0]);
    copy(&m.fences, sizeof m.fences);
    copy(&m.heavy, sizeof m.heavy);
    copy(m.data, sizeof m.data);
    copy(&m.locations, sizeof m.locations);
    for (int i = 0; i < m.locations; i++)
        location_copy(&m.location[i], copy);
    arena_copy(copy);
}
