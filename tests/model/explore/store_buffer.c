/* The store buffer of each thread (tso): a store reaches memory some time after it was made. */
#include "explore/memory.h"

#include <string.h>

void buffer_store(machine_thread *t, int l, uint64_t value, view carried)
{
    if (t->buffers == MAX_BUFFER)
        x_fail(LIMIT, "the explorer's store buffer is too small");
    t->buffer[t->buffers++] = (buffered){(uint8_t)l, value, carried};
    tick(t);
}

const buffered *newest_buffered(const machine_thread *t, int l)
{
    for (int i = t->buffers - 1; i >= 0; i--)
        if (t->buffer[i].location == l)
            return &t->buffer[i];
    return NULL;
}

bool machine_can_flush(int thread)
{
    return m.thread[thread].buffers > 0;
}

void machine_flush(int thread)
{
    machine_thread *t = &m.thread[thread];
    buffered first = t->buffer[0];
    memmove(&t->buffer[0], &t->buffer[1], (size_t)--t->buffers * sizeof t->buffer[0]);
    if (t->buffers_lit > 0)
        t->buffers_lit--;
    location *l = &m.location[first.location];
    store *s = store_insert(first.location, l->stores);
    uint8_t position = (uint8_t)(l->stores - 1);
    s->value = first.value;
    s->rmw = false;
    s->carried = first.carried;
    s->carried.seen[first.location] = position;
    see(t, first.location, position);
    if (tracing)
        trace_flush(thread, location_name(l), first.value);
}

/* The stores before the thread's last light fence. */
void flush_lit(int thread)
{
    while (m.thread[thread].buffers_lit > 0)
        machine_flush(thread);
}
