#include "sched/seat.h"

void fi_seat_init(fi_seat *s, FI_ATOMIC(uint32_t) * over)
{
    fi_ctx_init_thread(&s->home);
    s->cxx = fi_cxx_of_thread();
    s->watched = fi_stack_watch_init(&s->watch) == 0;
    s->over = over;
}

void fi_seat_fini(fi_seat *s)
{
    if (s->watched)
        fi_stack_watch_fini(&s->watch);
    fi_ctx_fini(&s->home);
}
