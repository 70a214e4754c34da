/* Data races.  Clocks travel in the views: an access is ordered after another thread's if its
 * thread's view has that thread's clock. */
#include "explore/memory.h"

static bool unordered(const uint8_t *clocks, const machine_thread *t)
{
    for (int i = 0; i < MAX_THREADS; i++)
        if (i != t - m.thread && clocks[i] > t->cur.clock[i])
            return true;
    return false;
}

void plain_access(plain *p, bool write, const char *what)
{
    machine_thread *t = self();
    uint8_t now = t->cur.clock[t - m.thread];
    if (unordered(p->wrote, t) || (write && unordered(p->read, t)))
        x_fail(RACE, "data race on %s", what);
    (write ? p->wrote : p->read)[t - m.thread] = now;
}

/* An atomic access races only with plain ones. */
void atomic_access(int l)
{
    machine_thread *t = self();
    if (m.check->races)
        m.location[l].plain.read[t - m.thread] = t->cur.clock[t - m.thread];
}

/* Freed memory becomes another object, whose fields need not be atomic: a free is a plain write. */
void machine_free(const void *low, const void *high)
{
    if (!m.check->races)
        return;
    for (int i = 0; i < m.locations; i++) {
        location *l = &m.location[i];
        if (l->address >= low && l->address < high)
            plain_access(&l->plain, true, location_name(l));
    }
}

static void data_access(int datum, bool write)
{
    const check *c = m.check;
    if (c->races)
        plain_access(&m.data[datum], write,
                     c->data_name ? c->data_name(datum) : "what the item points to");
}

void x_data_write(int datum)
{
    data_access(datum, true);
}

void x_data_read(int datum)
{
    data_access(datum, false);
}
