/* Every allocation of per-worker data fails once. */
#include "check.h"

#include "fault/inject.h"

#include <errno.h>
#include <filch/filch.h>
#include <stdatomic.h>

static atomic_int n_inits, n_finis;

static void count_init(void *object, void *ctx)
{
    (void)object, (void)ctx;
    atomic_fetch_add(&n_inits, 1);
}

static void count_fini(void *object, void *ctx)
{
    (void)object, (void)ctx;
    atomic_fetch_add(&n_finis, 1);
}

static void *get_on_worker(void *p)
{
    return filch_per_worker_get(p);
}

static int get_everywhere(filch_per_worker *p)
{
    filch_fiber *f = filch_fiber_start(get_on_worker, p);
    void *on_worker = NULL, *here = filch_per_worker_get(p);

    if (!f)
        return -ENOMEM;
    filch_fiber_join(f, &on_worker);
    return here && on_worker && here != on_worker ? 0 : -ENOMEM;
}

static int make_and_get(void *arg)
{
    filch_config c = {.workers = 1};
    filch_per_worker *p;
    int e;

    (void)arg;
    atomic_store(&n_inits, 0);
    atomic_store(&n_finis, 0);
    p = filch_per_worker_new(1000, count_init, count_fini, NULL);
    if (!p)
        return -ENOMEM;
    e = filch_start(&c);
    if (e == 0) {
        e = get_everywhere(p);
        filch_stop();
    }
    filch_per_worker_free(p);
    return atomic_load(&n_inits) == atomic_load(&n_finis) ? e : -EPROTO;
}

static void test_no_memory(void **state)
{
    (void)state;
    /* The data, an object for the worker, an object and a list entry for the thread. */
    CHECK(inject_every(make_and_get, NULL) >= 4);
}

CHECK_MAIN(test_no_memory)
