/* Fences: acquire, release and seq_cst, and the pair of a light and a heavy fence.
 *
 * A pair promises this, and no more: of a light and a heavy fence one comes first, and all that
 * precedes it is seen after the other.  Two light fences promise nothing, and a light fence does
 * not order the next store of its thread.  So a light fence records what its thread had seen, for
 * later heavy fences, and sees what earlier heavy fences had seen. */
#include "explore/memory.h"

static void acquire_fence(machine_thread *t)
{
    t->cur = t->acq;
}

static void release_fence(machine_thread *t)
{
    settle_all(t);
    t->rel = t->cur;
}

static void seq_cst_fence(machine_thread *t)
{
    settle_all(t);
    acquire_fence(t);
    view_join(&t->cur, &m.fences);
    m.fences = t->acq = t->cur;
    release_fence(t);
    tick(t);
}

/* Other threads see only a seq_cst fence, and only that one empties the store buffer. */
static void full_fence(site *s)
{
    if (machine_can_flush(search_self()))
        search_point_before(true);
    seq_cst_fence(self());
    if (tracing)
        trace_operation("fence", "", NO_VALUE, s, "");
    search_point_after();
}

static void weaker_fence(site *s, order o)
{
    machine_thread *t = self();
    settle_all(t);
    if (acquires(o))
        acquire_fence(t);
    if (releases(o))
        release_fence(t);
    if (tracing)
        trace_operation("fence", "", NO_VALUE, s, "");
}

void x_fence(site *s)
{
    search_operation();
    order o = order_of(s);
    if (o == ORDER_SEQ_CST)
        full_fence(s);
    else if (o == ORDER_ACQUIRE || o == ORDER_RELEASE || o == ORDER_ACQ_REL)
        weaker_fence(s, o);
    else if (o != ORDER_NONE)
        order_refuse(s, o);
}

static void light_fence(site *s)
{
    search_point_before(false);
    machine_thread *t = self();
    settle_all(t);
    t->lit = t->acq;
    t->buffers_lit = t->buffers;
    view_join(&t->cur, &m.heavy);
    view_join(&t->acq, &m.heavy);
    tick(t);
    if (tracing)
        trace_operation("light", "", NO_VALUE, s, "");
    search_point_after();
}

static void heavy_fence(site *s)
{
    search_point_before(true);
    machine_thread *t = self();
    seq_cst_fence(t);
    view_join(&m.heavy, &t->rel); /* what was before it, and not what comes next */
    if (tracing)
        trace_operation("heavy", "", NO_VALUE, s, "");
    for (int i = 0; i < MAX_THREADS; i++) {
        flush_lit(i);
        view_join(&t->cur, &m.thread[i].lit);
        view_join(&t->acq, &m.thread[i].lit);
    }
    search_point_after();
}

static void fence_of_pair(site *s, void (*fence)(site *s))
{
    search_operation();
    order o = order_of(s);
    if (o == ORDER_SEQ_CST)
        fence(s);
    else if (o == ORDER_ACQ_REL)
        weaker_fence(s, o);
    else if (o != ORDER_NONE)
        order_refuse(s, o);
}

void x_fence_light(site *s)
{
    fence_of_pair(s, light_fence);
}

void x_fence_heavy(site *s)
{
    fence_of_pair(s, heavy_fence);
}

/* The kernel's lock is a full barrier. */
void machine_enter_kernel(void)
{
    seq_cst_fence(self());
}
