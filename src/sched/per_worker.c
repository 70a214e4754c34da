/* The index of the calling worker, and data for each worker.
 *
 * The object of a worker is found by the index of the worker, and is made when the worker first
 * asks for it.  Only the thread that runs as that worker stores it, so this needs no lock, and the
 * memory is first touched by its user.  The objects do not depend on a runtime.
 *
 * Other threads have objects, too: work may run on the calling thread if no runtime can be started.
 * Those are in a list, and are found by the number of the thread.  A number is never used again, so
 * no two threads share an object. */
#include "base/at_fork.h"
#include "base/init_flag.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/message.h"
#include "sched/worker.h"

#include <filch/runtime.h>

#define OBJECT_ALIGN ((size_t)128) /* two cache lines: processors prefetch them in pairs */
#define SIZE_LIMIT   ((size_t)PTRDIFF_MAX / 2)

int filch_worker_index(void)
{
    const fi_worker *w = fi_worker_self();

    return w ? (int)w->index : -1;
}

typedef struct thread_object {
    struct thread_object *next; /* fixed */
    uint64_t thread;
    void *object;
} thread_object;

struct filch_per_worker {
    size_t object_size; /* rounded up */
    void (*init)(void *object, void *ctx);
    void (*fini)(void *object, void *ctx);
    void *ctx;
    thread_object *thread_objects; /* guarded by thread_lock; entries are only added */
    FI_ATOMIC(void *) objects[FILCH_WORKERS_MAX];
};

static fi_lock thread_lock; /* of all lists of thread objects */
static uint64_t n_threads;  /* threads that have a number; guarded by thread_lock */

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_PER_WORKER, &thread_lock, NULL);
}

filch_per_worker *filch_per_worker_new(size_t size, void (*init)(void *object, void *ctx),
                                       void (*fini)(void *object, void *ctx), void *ctx)
{
    filch_per_worker *p;

    if (size == 0 || size > SIZE_LIMIT) {
        fi_message_invalid("filch_per_worker_new: size is %s (%zu); use 1 to %zu bytes",
                           size == 0 ? "0" : "too large", size, SIZE_LIMIT);
        return NULL;
    }
    p = FI_NEW(filch_per_worker);
    if (!p)
        return NULL;
    p->object_size = (size + OBJECT_ALIGN - 1) / OBJECT_ALIGN * OBJECT_ALIGN;
    p->init = init;
    p->fini = fini;
    p->ctx = ctx;
    return p;
}

static void *object_new(filch_per_worker *p)
{
    void *object = fi_mem_alloc(p->object_size, OBJECT_ALIGN);

    if (object && p->init)
        p->init(object, p->ctx);
    return object;
}

static void object_free(filch_per_worker *p, void *object)
{
    if (p->fini)
        p->fini(object, p->ctx);
    fi_mem_free(object, p->object_size, OBJECT_ALIGN);
}

/* ---- threads that are not workers ---- */

/* [lock held] noinline: a fiber, whose thread may change, must not keep the address. */
static __attribute__((noinline)) uint64_t thread_number(void)
{
    static _Thread_local uint64_t number;

    if (number == 0)
        number = ++n_threads;
    return number;
}

/* [lock held] */
static void *find_thread_object(const filch_per_worker *p, uint64_t thread)
{
    for (const thread_object *t = p->thread_objects; t; t = t->next)
        if (t->thread == thread)
            return t->object;
    return NULL;
}

static void add_thread_object(filch_per_worker *p, thread_object *t)
{
    fi_lock_lock(&thread_lock);
    t->next = p->thread_objects;
    p->thread_objects = t;
    fi_lock_unlock(&thread_lock);
}

/* The list may have changed while init ran, but only this thread adds its own object. */
static void *thread_object_get(filch_per_worker *p)
{
    thread_object *t;
    uint64_t thread;
    void *object;

    fi_lock_lock(&thread_lock);
    thread = thread_number();
    object = find_thread_object(p, thread);
    fi_lock_unlock(&thread_lock);
    if (object)
        return object;
    t = FI_NEW(thread_object);
    object = t ? object_new(p) : NULL;
    if (!object) {
        if (t)
            FI_DELETE(thread_object, t);
        return NULL;
    }
    t->thread = thread;
    t->object = object;
    add_thread_object(p, t);
    return object;
}

/* ---- all threads ---- */

/* [worker] If init has waited, the caller may run on another worker now, which may have an object,
 * and so may the former worker. */
static __attribute__((noinline)) void *worker_object_new(filch_per_worker *p)
{
    void *object = object_new(p), *existing;
    unsigned index;

    if (!object)
        return NULL;
    index = fi_worker_self()->index;
    existing = fi_load_relaxed(&p->objects[index]);
    if (existing) {
        object_free(p, object);
        return existing;
    }
    fi_init_set(&p->objects[index], object);
    return object;
}

static FI_NOINLINE void *data_is_null(const char *function)
{
    fi_message_null(function, "data", "data of filch_per_worker_new");
    return NULL;
}

/* Relaxed: the object was made by the same worker. */
void *filch_per_worker_get(filch_per_worker *p)
{
    const fi_worker *w = fi_worker_self();
    void *object;

    if (FI_UNLIKELY(!p))
        return data_is_null(__func__);
    if (FI_UNLIKELY(!w))
        return thread_object_get(p);
    object = fi_load_relaxed(&p->objects[w->index]);
    return FI_LIKELY(object) ? object : worker_object_new(p);
}

static thread_object *first_thread_object(const filch_per_worker *p)
{
    thread_object *first;

    fi_lock_lock(&thread_lock);
    first = p->thread_objects;
    fi_lock_unlock(&thread_lock);
    return first;
}

void filch_per_worker_each(filch_per_worker *p, void (*visit)(void *object, void *ctx), void *ctx)
{
    if (!p)
        data_is_null(__func__);
    else if (!visit)
        fi_message_null(__func__, "visit", "a function");
    if (!p || !visit)
        return;
    for (unsigned i = 0; i < FILCH_WORKERS_MAX; i++) {
        void *object = fi_init_get(&p->objects[i]);
        if (object)
            visit(object, ctx);
    }
    for (const thread_object *t = first_thread_object(p); t; t = t->next)
        visit(t->object, ctx);
}

void filch_per_worker_free(filch_per_worker *p)
{
    thread_object *t;

    if (!p)
        return;
    for (unsigned i = 0; i < FILCH_WORKERS_MAX; i++) {
        void *object = fi_init_get(&p->objects[i]);
        if (object)
            object_free(p, object);
    }
    while ((t = p->thread_objects) != NULL) {
        p->thread_objects = t->next;
        object_free(p, t->object);
        FI_DELETE(thread_object, t);
    }
    FI_DELETE(filch_per_worker, p);
}
