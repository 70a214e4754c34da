#include "sched/seat.h"

void fi_seat_init(fi_seat *s, fi_overflow_handler *watch, FI_ATOMIC(uint32_t) * over)
{
    fi_ctx_init_thread(&s->home);
    s->cxx = fi_cxx_of_thread();
    s->watch = watch;
    s->watched = fi_overflow_handler_init(watch) == 0;
    s->over = over;
    s->is_guest = false;
    s->straight = FI_SEAT_STRAIGHT;
    s->clock = 0;
    s->root = NULL;
}

void fi_seat_fini(fi_seat *s)
{
    if (s->watched)
        fi_overflow_handler_leave(s->watch);
    fi_ctx_fini(&s->home);
}
