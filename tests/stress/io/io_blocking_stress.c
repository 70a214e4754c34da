/* Fibers make more blocking calls than there are threads, while others sleep, use pipes and are
 * cancelled. Each call runs once, and none hangs.  FILCH_SEED=… repeats the choices of a run. */
#include "unit/io/helpers.h"

#include "base/rng.h"
#include "seed.h"

enum { CALLERS = 24 };

static uint64_t seed;
static atomic_long calls_made;
static atomic_int first_wrong_line; /* 0: none */

#define MUST(condition)                                                                            \
    do {                                                                                           \
        int none = 0;                                                                              \
        if (!(condition))                                                                          \
            atomic_compare_exchange_strong(&first_wrong_line, &none, __LINE__);                    \
    } while (0)

typedef struct caller {
    fi_rng rng;
    long calls;
    int fd[2];
} caller;

static int64_t call(void *us)
{
    struct timespec t = {0, 1000L * (long)*(int64_t *)us};

    if (t.tv_nsec > 0)
        nanosleep(&t, NULL);
    atomic_fetch_add(&calls_made, 1);
    return *(int64_t *)us;
}

static void use_pipe(caller *c)
{
    char x = 'x';

    MUST(filch_write(c->fd[1], &x, 1) == 1);
    if (fi_rng_below(&c->rng, 2))
        filch_yield();
    while (filch_read(c->fd[0], &x, 1) == -ECANCELED)
        filch_fiber_uncancel();
}

static void *caller_main(void *arg)
{
    caller *c = arg;

    for (int i = 0; i < SCALED(300); i++) {
        int64_t us = fi_rng_below(&c->rng, 3) ? 0 : fi_rng_below(&c->rng, 30);
        filch_fiber_uncancel();
        switch (fi_rng_below(&c->rng, 4)) {
        case 0:
            filch_sleep(FILCH_US(us));
            break;
        case 1:
            use_pipe(c);
            break;
        default:
            MUST(filch_run_blocking(call, &us) == us);
            c->calls++;
        }
    }
    return NULL;
}

static void *stress_body(void *arg)
{
    caller all[CALLERS];
    filch_fiber *f[CALLERS];
    long calls = 0;
    fi_rng rng;

    (void)arg;
    fi_rng_seed(&rng, seed++);
    atomic_store(&calls_made, 0);
    for (int i = 0; i < CALLERS; i++) {
        all[i] = (caller){.calls = 0};
        fi_rng_seed(&all[i].rng, fi_rng_next(&rng));
        MUST(filch_pipe(all[i].fd) == 0);
        f[i] = filch_fiber_start(caller_main, &all[i]);
    }
    for (int i = 0; i < SCALED(2000); i++) {
        filch_fiber_cancel(f[fi_rng_below(&rng, CALLERS)]);
        filch_yield();
    }
    for (int i = 0; i < CALLERS; i++) {
        MUST(filch_fiber_join(f[i], NULL) == 0);
        MUST(filch_close(all[i].fd[0]) == 0 && filch_close(all[i].fd[1]) == 0);
        calls += all[i].calls;
    }
    MUST(calls == atomic_load(&calls_made));
    return NULL;
}

static void stress(void)
{
    atomic_store(&first_wrong_line, 0);
    on_fiber(stress_body, NULL);
    CHECK_INT(atomic_load(&first_wrong_line), 0);
}

static void test_few_threads(void **state)
{
    (void)state;
    workers_each(&(filch_config){.blocking_threads = 2}, stress);
}

WITH_WORKERS(stress)

static void print_seed(void **state)
{
    (void)state;
    seed = seed_get();
}

CHECK_MAIN(print_seed, test_few_threads, test_stress)
