#include "sched/locals.h"

#include "base/at_fork.h"
#include "base/mem.h"
#include "sched/places.h"
#include "sched/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 4 /* what destroyers set anew is destroyed too, but not for ever */

static fi_places places;

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_KEYS, &places.lock, NULL);
}

/* The threads' own, found by a key whose destroyer is ours. */
static pthread_key_t key;
static pthread_once_t key_made = PTHREAD_ONCE_INIT;

struct fi_locals {
    int in_use;  /* values that are not NULL */
    bool ending; /* their destroyers run */
    void *values[FILCH_FLS_MAX];
};

int filch_fls_new(void (*destroy)(void *value))
{
    return fi_places_add(&places, destroy);
}

static bool exists(int place)
{
    return place >= 0 && place < fi_places_n(&places);
}

static void put_value(fi_locals *l, int place, void *value)
{
    l->in_use += (value != NULL) - (l->values[place] != NULL);
    l->values[place] = value;
}

static bool destroy_all(fi_locals *l)
{
    bool any = false;
    int n = fi_places_n(&places);

    for (int i = 0; i < n; i++) {
        void *value = l->values[i];
        fi_destroyer *destroy = fi_places_destroyer(&places, i);
        put_value(l, i, NULL);
        if (value && destroy) {
            destroy(value);
            any = true;
        }
    }
    return any;
}

void fi_locals_end(fi_locals *l)
{
    l->ending = true;
    for (int i = 0; i < ROUNDS && destroy_all(l); i++)
        continue;
    FI_DELETE(fi_locals, l);
}

static void end_thread(void *locals)
{
    pthread_setspecific(key, locals); /* its destroyers may look */
    fi_locals_end(locals);
    pthread_setspecific(key, NULL);
}

static void make_key(void)
{
    if (pthread_key_create(&key, end_thread) != 0)
        abort(); /* 1024 of them are taken */
}

static fi_fiber *current(void)
{
    fi_worker *w = fi_worker_self();

    return w ? fi_fiber_of_bounds(fi_load_relaxed(&w->current)) : NULL;
}

static fi_locals *mine(void)
{
    fi_fiber *f = current();

    if (f)
        return f->locals;
    pthread_once(&key_made, make_key);
    return pthread_getspecific(key);
}

static fi_locals *make_mine(void)
{
    fi_locals *l = FI_NEW(fi_locals);
    fi_fiber *f = current();

    if (!l)
        return NULL;
    if (f)
        f->locals = l;
    else
        pthread_setspecific(key, l);
    return l;
}

void *filch_fls_get(int place)
{
    const fi_locals *l = exists(place) ? mine() : NULL;

    return l ? l->values[place] : NULL;
}

/* A thread may live until the process ends, and its memory makes filch_set_allocator return -EBUSY.
 * So it is freed as soon as no value is left.  A fiber ends soon, and keeps its memory until then.
 * Not freed while destroyers run, because they may set and clear values. */
static void free_if_empty(fi_locals *l)
{
    if (l->in_use > 0 || l->ending || current())
        return;
    pthread_setspecific(key, NULL);
    FI_DELETE(fi_locals, l);
}

int filch_fls_set(int place, void *value)
{
    fi_locals *l;

    if (!exists(place))
        return -EINVAL;
    l = mine();
    if (!l && value)
        l = make_mine();
    if (!l)
        return value ? -ENOMEM : 0;
    put_value(l, place, value);
    if (!value)
        free_if_empty(l);
    return 0;
}
