/* Filch's locked deque has a lock that spins before it sleeps.  The first version of a job system
 * would use the mutex of the system, as this deque does. */
#include "mutex_deque.h"

#include "base/mem.h"

#include <pthread.h>

typedef struct locked {
    fi_deque base;
    pthread_mutex_t mutex;
    void **slots; /* this and all below are protected by mutex */
    size_t capacity;
    size_t bottom, top; /* only grow; masked on access */
} locked;

static int create(const fi_deque_config *config, fi_deque **out)
{
    locked *d = FI_NEW(locked);
    if (!d)
        return -ENOMEM;
    d->slots = FI_NEW_ARRAY(void *, config->capacity);
    if (!d->slots) {
        FI_DELETE(locked, d);
        return -ENOMEM;
    }
    d->base.ops = &mutex_deque;
    d->capacity = config->capacity;
    pthread_mutex_init(&d->mutex, NULL);
    *out = &d->base;
    return 0;
}

static void destroy(fi_deque *base)
{
    locked *d = (locked *)base;
    pthread_mutex_destroy(&d->mutex);
    FI_DELETE_ARRAY(void *, d->slots, d->capacity);
    FI_DELETE(locked, d);
}

static int push(fi_deque *base, void *item)
{
    locked *d = (locked *)base;
    int result = -ENOSPC;
    pthread_mutex_lock(&d->mutex);
    if (d->bottom - d->top < d->capacity) {
        d->slots[d->bottom++ & (d->capacity - 1)] = item;
        result = 0;
    }
    pthread_mutex_unlock(&d->mutex);
    return result;
}

static void *pop(fi_deque *base)
{
    locked *d = (locked *)base;
    void *item = NULL;
    pthread_mutex_lock(&d->mutex);
    if (d->bottom != d->top)
        item = d->slots[--d->bottom & (d->capacity - 1)];
    pthread_mutex_unlock(&d->mutex);
    return item;
}

static int steal(fi_deque *base, void **out, uint32_t max)
{
    locked *d = (locked *)base;
    int result = FI_STEAL_EMPTY;
    if (max == 0)
        return -EINVAL;
    pthread_mutex_lock(&d->mutex);
    if (d->bottom != d->top) {
        out[0] = d->slots[d->top++ & (d->capacity - 1)];
        result = 1;
    }
    pthread_mutex_unlock(&d->mutex);
    return result;
}

static size_t size(fi_deque *base)
{
    locked *d = (locked *)base;
    pthread_mutex_lock(&d->mutex);
    size_t n = d->bottom - d->top;
    pthread_mutex_unlock(&d->mutex);
    return n;
}

static size_t capacity(fi_deque *base)
{
    return ((locked *)base)->capacity;
}

const fi_deque_ops mutex_deque = {
    .name = "mutex",
    .create = create,
    .destroy = destroy,
    .push = push,
    .pop = pop,
    .steal = steal,
    .size = size,
    .capacity = capacity,
};
