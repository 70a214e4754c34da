#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall, MAP_POPULATE */
#endif
#include "io/ring.h"

#include "base/init_flag.h"
#include "base/mem.h"
#include "io/io.h"

#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SUBMISSIONS   8    /* each is handed over at once */
#define COMPLETIONS   1024 /* max. reads that run */
#define READ_SIZE_MAX 0x7ffff000
#define REAP_MAX      64

/* Newer than some headers.  These numbers are the same on all architectures. */
#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#define SYS_io_uring_enter 426
#endif

/* A read, on the stack of its fiber. */
typedef struct ring_read {
    fi_biased_lock lock; /* guards the rest */
    fi_waitq fiber;
    int32_t result;
    bool done;
} ring_read;

/* ---- making and freeing ---- */

static void *map_queue(const fi_ring *r, size_t size, uint64_t which)
{
    void *at =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, (off_t)which);

    return at == MAP_FAILED ? NULL : at;
}

static void *queue_at(const fi_ring *r, uint32_t offset)
{
    return (char *)r->queues + offset;
}

/* Each slot of the submission queue has the entry of the same number. */
static void find_parts(fi_ring *r, const struct io_uring_params *p)
{
    uint32_t *array = queue_at(r, p->sq_off.array);

    r->submit_tail = queue_at(r, p->sq_off.tail);
    r->complete_head = queue_at(r, p->cq_off.head);
    r->complete_tail = queue_at(r, p->cq_off.tail);
    r->completions = queue_at(r, p->cq_off.cqes);
    r->submit_mask = *(uint32_t *)queue_at(r, p->sq_off.ring_mask);
    r->complete_mask = *(uint32_t *)queue_at(r, p->cq_off.ring_mask);
    r->n_running_max = p->cq_entries;
    for (uint32_t i = 0; i < p->sq_entries; i++)
        array[i] = i;
}

static bool map_queues(fi_ring *r, const struct io_uring_params *p)
{
    size_t submit = p->sq_off.array + p->sq_entries * sizeof(uint32_t);
    size_t complete = p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);

    if (!(p->features & IORING_FEAT_SINGLE_MMAP))
        return false;
    r->queues_size = submit > complete ? submit : complete;
    r->submissions_size = p->sq_entries * sizeof(struct io_uring_sqe);
    r->queues = map_queue(r, r->queues_size, IORING_OFF_SQ_RING);
    r->submissions = map_queue(r, r->submissions_size, IORING_OFF_SQES);
    if (!r->queues || !r->submissions)
        return false;
    find_parts(r, p);
    return true;
}

static void ring_fini(fi_ring *r)
{
    if (r->submissions)
        munmap(r->submissions, r->submissions_size);
    if (r->queues)
        munmap(r->queues, r->queues_size);
    if (r->fd >= 0)
        close(r->fd);
    r->submissions = NULL;
    r->queues = NULL;
    r->fd = -1;
}

/* Without io_uring, because the kernel is old or a filter forbids it, the descriptor stays -1. */
static void ring_init(fi_ring *r, fi_epoll *ep)
{
    struct io_uring_params p = {.flags = IORING_SETUP_CQSIZE, .cq_entries = COMPLETIONS};

    r->fd = (int)syscall(SYS_io_uring_setup, SUBMISSIONS, &p);
    if (r->fd >= 0 && (!map_queues(r, &p) || fi_epoll_add_ring(ep, r->fd) < 0))
        ring_fini(r);
}

void fi_ring_free(fi_ring *r)
{
    ring_fini(r);
    FI_DELETE(fi_ring, r);
}

/* NULL: there is no memory. */
static fi_ring *ring_make(fi_io *io)
{
    fi_ring *r = FI_NEW(fi_ring), *none = NULL;

    if (!r)
        return NULL;
    ring_init(r, &io->epoll);
    if (fi_init_set_first(&io->ring, &none, r))
        return r;
    fi_ring_free(r);
    return fi_init_get(&io->ring);
}

static fi_ring *ring_get(fi_io *io)
{
    fi_ring *r = fi_init_get(&io->ring);

    return r ? r : ring_make(io);
}

/* ---- submitting ---- */

static struct io_uring_sqe submission_of(const fi_io_op *op, ring_read *read)
{
    return (struct io_uring_sqe){.opcode = IORING_OP_READ,
                                 .fd = op->fd,
                                 .off = (uint64_t)op->offset,
                                 .addr = (uintptr_t)op->buf,
                                 .len = (uint32_t)op->n,
                                 .user_data = (uintptr_t)read};
}

/* [lock held] The kernel consumes the submission during the call, or refuses it.  Then it is
 * withdrawn. */
static int submit_locked(fi_ring *r, const fi_io_op *op, ring_read *read)
{
    uint32_t tail = fi_load_relaxed(r->submit_tail); /* only written under the lock */
    long n;

    if (r->n_running == r->n_running_max)
        return -EBUSY;
    r->submissions[tail & r->submit_mask] = submission_of(op, read);
    fi_init_set(r->submit_tail, tail + 1);
    n = syscall(SYS_io_uring_enter, r->fd, 1, 0, 0, NULL, 0);
    if (n != 1) {
        fi_init_set(r->submit_tail, tail);
        return n < 0 ? -errno : -EAGAIN;
    }
    r->n_running++;
    return 0;
}

static int submit_read(fi_ring *r, const fi_io_op *op, ring_read *read)
{
    int e;

    fi_lock_lock(&r->lock);
    e = submit_locked(r, op, read);
    fi_lock_unlock(&r->lock);
    return e;
}

/* ---- completing ---- */

typedef struct completion {
    ring_read *read;
    int32_t result;
} completion;

/* Returns the number of completions. */
static int take_completions(fi_ring *r, completion *list)
{
    uint32_t head, tail;
    int n = 0;

    fi_lock_lock(&r->lock);
    head = fi_load_relaxed(r->complete_head); /* only written under the lock */
    tail = fi_init_get(r->complete_tail);
    for (; head != tail && n < REAP_MAX; head++, n++) {
        const struct io_uring_cqe *c = &r->completions[head & r->complete_mask];
        list[n] = (completion){(ring_read *)(uintptr_t)c->user_data, c->res};
    }
    fi_init_set(r->complete_head, head);
    r->n_running -= (uint32_t)n;
    fi_lock_unlock(&r->lock);
    return n;
}

/* After the unlock the fiber may leave the read. */
static void complete_read(const completion *c)
{
    ring_read *read = c->read;
    fi_waiter *w;

    fi_obj_lock_second(&read->lock);
    read->result = c->result;
    read->done = true;
    w = fi_waitq_pop(&read->fiber);
    fi_obj_unlock(&read->lock);
    if (w)
        fi_waiter_wake(w);
}

void fi_ring_reap(fi_io *io)
{
    fi_ring *r = fi_init_get(&io->ring);
    completion list[REAP_MAX];
    int n;

    if (!r || r->fd < 0)
        return;
    do {
        n = take_completions(r, list);
        for (int i = 0; i < n; i++)
            complete_read(&list[i]);
    } while (n == REAP_MAX);
}

/* ---- waiting ---- */

/* The kernel writes to the buffer until the read has completed, so nothing ends the wait
 * earlier. */
static void wait_for_read(ring_read *read, int fd)
{
    fi_waiter w = {.uncancellable = true};

    fi_obj_lock_second(&read->lock);
    if (read->done)
        fi_obj_unlock(&read->lock);
    else
        fi_waitq_wait(&w, &read->fiber, &read->lock,
                      (fi_wait_reason){"read", (const void *)(intptr_t)fd}, FI_TIMER_NEVER);
}

ssize_t fi_ring_read(fi_io_op *op)
{
    fi_ring *r = ring_get(op->io);
    ring_read read = {.done = false};
    int e = -ENOSYS;

    if (r && r->fd >= 0 && op->n <= READ_SIZE_MAX) {
        fi_idle_add_interest(&op->io->runtime->idle);
        e = submit_read(r, op, &read);
    }
    fi_io_op_leave_guard(op);
    if (e == -ENOSYS)
        return e;
    if (e == 0)
        wait_for_read(&read, op->fd);
    fi_idle_remove_interest(&op->io->runtime->idle);
    return e < 0 ? e : read.result;
}
