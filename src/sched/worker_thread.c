#include "sched/worker_thread.h"

void fi_worker_thread_init(fi_worker_thread *s, fi_overflow_handler *watch,
                           FI_ATOMIC(uint32_t) * over)
{
    fi_ctx_init_thread(&s->sched_ctx);
    s->cxx = fi_cxx_exceptions_of_thread();
    s->overflow = watch;
    s->has_overflow_handler = fi_overflow_handler_init(watch) == 0;
    s->stop_flag = over;
    s->is_borrower = false;
    s->direct_switch_max = FI_DIRECT_SWITCH_MAX;
    s->clock = 0;
    s->root_fiber = NULL;
}

void fi_worker_thread_fini(fi_worker_thread *s)
{
    if (s->has_overflow_handler)
        fi_overflow_handler_leave(s->overflow);
    fi_ctx_fini(&s->sched_ctx);
}
