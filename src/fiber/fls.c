/* Fiber-local storage.  The values of a fiber are an array indexed by the key.  Threads have one
 * too. */
#include "base/at_fork.h"
#include "base/mem.h"
#include "base/message.h"
#include "fiber/fls_keys.h"
#include "sched/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define DESTRUCTOR_ROUNDS_MAX 4 /* destructors may set values again */
#define SLOTS_MIN             8

static fi_fls_keys keys;

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_FLS_KEYS, &keys.lock, NULL);
}

/* Holds the storage of a thread. */
static pthread_key_t thread_key;
static bool has_thread_key;
static pthread_once_t thread_key_once = PTHREAD_ONCE_INIT;

/* The destructor is kept with the value: by the time the fiber ends, the key may be freed and its
 * table entry may belong to another key. */
typedef struct fls_slot {
    void *value;
    fi_destroyer *destroy;
    int key;
} fls_slot;

struct fi_fls {
    fi_at_end at_end; /* first; of a fiber */
    bool ending;      /* the destructors run */
    int n;
    fls_slot *slots; /* n of them, indexed by fi_fls_keys_index */
};

int filch_fls_new(void (*destroy)(void *value))
{
    return fi_fls_keys_add(&keys, destroy);
}

/* The slot of a key; NULL: the array is too short. */
static fls_slot *slot_of(const fi_fls *l, int key)
{
    int i = fi_fls_keys_index(key);

    return l && i < l->n ? &l->slots[i] : NULL;
}

/* NULL if the key was freed. */
static void *slot_value(const fls_slot *s)
{
    return s->value && fi_fls_keys_exists(&keys, s->key) ? s->value : NULL;
}

static void fls_free(fi_fls *l)
{
    FI_DELETE_ARRAY(fls_slot, l->slots, (size_t)l->n);
    FI_DELETE(fi_fls, l);
}

static bool fls_run_destructors(fi_fls *l)
{
    bool any = false;

    for (int i = 0; i < l->n; i++) {
        fls_slot s = l->slots[i];
        void *value = slot_value(&s);
        l->slots[i].value = NULL;
        if (value && s.destroy) {
            s.destroy(value); /* it may reallocate the slots */
            any = true;
        }
    }
    return any;
}

/* [its fiber or thread, at its end] Call the destructors, then free the storage. */
static void fls_end(fi_fls *l)
{
    l->ending = true;
    for (int i = 0; i < DESTRUCTOR_ROUNDS_MAX && fls_run_destructors(l); i++)
        continue;
    fls_free(l);
}

static void fls_fiber_end(fi_at_end *fls, fi_fiber *f)
{
    fls_end((fi_fls *)(void *)fls);
    f->fls = NULL;
}

static void fls_thread_exit(void *fls)
{
    pthread_setspecific(thread_key, fls); /* destructors may read values */
    fls_end(fls);
    pthread_setspecific(thread_key, NULL);
}

/* The number of keys of a process is limited.  Without one, threads have no values. */
static void make_thread_key(void)
{
    has_thread_key = pthread_key_create(&thread_key, fls_thread_exit) == 0;
}

static fi_fls *fls_self(void)
{
    fi_fiber *f = fi_fiber_self();

    if (f)
        return f->fls;
    pthread_once(&thread_key_once, make_thread_key);
    return has_thread_key ? pthread_getspecific(thread_key) : NULL;
}

/* False: the thread cannot keep it. */
static bool fls_set_self(fi_fls *l)
{
    fi_fiber *f = fi_fiber_self();

    if (f) {
        f->fls = l;
        l->at_end.end = fls_fiber_end;
        fi_fiber_end_first(f, &l->at_end);
        return true;
    }
    return has_thread_key && pthread_setspecific(thread_key, l) == 0;
}

/* Grow the array to more than i slots. */
static bool fls_grow(fi_fls *l, int i)
{
    int n = l->n > 0 ? l->n : SLOTS_MIN;
    fls_slot *slots;

    while (n <= i)
        n *= 2;
    slots = FI_NEW_ARRAY(fls_slot, (size_t)n);
    if (!slots)
        return false;
    if (l->n > 0)
        memcpy(slots, l->slots, (size_t)l->n * sizeof *slots);
    FI_DELETE_ARRAY(fls_slot, l->slots, (size_t)l->n);
    l->slots = slots;
    l->n = n;
    return true;
}

/* The caller's slot of a key, allocated if it does not exist.  NULL: no memory. */
static fls_slot *fls_slot_self(int key)
{
    fi_fls *l = fls_self(), *made = NULL;

    if (!l)
        l = made = FI_NEW(fi_fls);
    if (l && fi_fls_keys_index(key) >= l->n && !fls_grow(l, fi_fls_keys_index(key))) {
        if (made)
            FI_DELETE(fi_fls, made);
        return NULL;
    }
    if (made && !fls_set_self(made)) {
        fls_free(made);
        return NULL;
    }
    return slot_of(l, key);
}

void *filch_fls_get(int key)
{
    const fls_slot *s = key >= 0 ? slot_of(fls_self(), key) : NULL;

    return s && s->key == key ? slot_value(s) : NULL;
}

static bool fls_is_empty(const fi_fls *l)
{
    for (int i = 0; i < l->n; i++)
        if (slot_value(&l->slots[i]))
            return false;
    return true;
}

/* Set the caller's value to NULL.  A thread may live until the process ends, and its memory makes
 * filch_set_allocator return -EBUSY.  So the memory is freed as soon as no value is left.  A fiber
 * ends soon, and keeps its memory until then.  It is not freed while destructors run, because they
 * may set and clear values. */
static void fls_clear_self(int key)
{
    fi_fls *l = fls_self();
    fls_slot *s = slot_of(l, key);

    if (!s)
        return;
    s->value = NULL;
    if (!l->ending && !fi_fiber_self() && fls_is_empty(l)) {
        pthread_setspecific(thread_key, NULL);
        fls_free(l);
    }
}

static int key_error(const char *function, int key)
{
    return fi_message_invalid("%s: the key does not exist (%d); use one of filch_fls_new", function,
                              key);
}

int filch_fls_set(int key, void *value)
{
    fls_slot *s;

    if (!fi_fls_keys_exists(&keys, key))
        return key_error("filch_fls_set", key);
    if (!value) {
        fls_clear_self(key);
        return 0;
    }
    s = fls_slot_self(key);
    if (!s)
        return -ENOMEM;
    *s = (fls_slot){value, fi_fls_keys_destroyer(&keys, key), key};
    return 0;
}

int filch_fls_free(int key)
{
    if (fi_fls_keys_remove(&keys, key) < 0)
        return key_error("filch_fls_free", key);
    fls_clear_self(key);
    return 0;
}
