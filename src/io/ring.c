#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall, MAP_POPULATE */
#endif
#include "io/ring.h"

#include "base/clock.h"
#include "base/fatal.h"
#include "base/futex.h"
#include "base/init_flag.h"
#include "sched/poller.h"

#include <errno.h>
#include <linux/time_types.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ASKED_MAX 256
#define DONE_MAX  4096 /* before the kernel has to keep them elsewhere */
#define NS_PER_S  1000000000

/* Less than all of these would need another way to do what we do. */
#define NEEDED                                                                                     \
    (IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP | IORING_FEAT_FAST_POLL | IORING_FEAT_EXT_ARG |  \
     IORING_FEAT_CQE_SKIP)

static long enter(const fi_ring *r, uint32_t n, uint32_t wait_for, uint32_t flags, void *arg,
                  size_t size)
{
    long done = syscall(SYS_io_uring_enter, r->fd, n, wait_for, flags, arg, size);

    return done < 0 ? -errno : done;
}

/* Anything but these would come again and again. */
static void check(long n)
{
    if (n < 0 && n != -ETIME && n != -EINTR && n != -EAGAIN && n != -EBUSY)
        fi_fatal("a descriptor of the runtime's own, its ring, was closed");
}

/* ---- the beginning and the end ---- */

static fi_ring_word *word_at(const fi_ring *r, uint32_t offset)
{
    return (fi_ring_word *)(void *)((char *)r->queues + offset);
}

static uint32_t mask_at(const fi_ring *r, uint32_t offset)
{
    return *(const uint32_t *)(const void *)((const char *)r->queues + offset);
}

/* Each place of the queue has the entry of its number, for ever. */
static void number_entries(const fi_ring *r, const struct io_uring_params *p)
{
    uint32_t *array = (uint32_t *)(void *)((char *)r->queues + p->sq_off.array);

    for (uint32_t i = 0; i < p->sq_entries; i++)
        array[i] = i;
}

static void find_parts(fi_ring *r, const struct io_uring_params *p)
{
    r->asked_head = word_at(r, p->sq_off.head);
    r->asked_tail = word_at(r, p->sq_off.tail);
    r->flags = word_at(r, p->sq_off.flags);
    r->asked_mask = mask_at(r, p->sq_off.ring_mask);
    r->done_head = word_at(r, p->cq_off.head);
    r->done_tail = word_at(r, p->cq_off.tail);
    r->done_mask = mask_at(r, p->cq_off.ring_mask);
    r->done = (struct io_uring_cqe *)(void *)((char *)r->queues + p->cq_off.cqes);
    number_entries(r, p);
}

static void *map(const fi_ring *r, size_t size, off_t what)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, what);
}

static int map_all(fi_ring *r, const struct io_uring_params *p)
{
    size_t asked = p->sq_off.array + p->sq_entries * sizeof(uint32_t);
    size_t done = p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);

    r->queues_size = asked > done ? asked : done;
    r->asked_size = p->sq_entries * sizeof(struct io_uring_sqe);
    r->queues = map(r, r->queues_size, IORING_OFF_SQ_RING);
    if (r->queues == MAP_FAILED)
        return -errno;
    r->asked = map(r, r->asked_size, (off_t)IORING_OFF_SQES);
    if (r->asked == MAP_FAILED) {
        int e = -errno;
        munmap(r->queues, r->queues_size);
        return e;
    }
    find_parts(r, p);
    return 0;
}

void fi_ring_fini(fi_ring *r)
{
    munmap(r->asked, r->asked_size);
    munmap(r->queues, r->queues_size);
    close(r->fd);
}

/* A filter may let rings be made, and nothing be done with them. */
static int try_out(fi_ring *r)
{
    fi_ring_done d;
    long n;

    fi_ring_push(r, &(struct io_uring_sqe){.opcode = IORING_OP_NOP});
    n = enter(r, 1, 0, 0, NULL, 0);
    if (n != 1)
        return n < 0 ? (int)n : -ENOSYS;
    return fi_ring_wait(r, &d, FI_POLL_NOW) < 0 ? -ENOSYS : 0;
}

int fi_ring_init(fi_ring *r)
{
    struct io_uring_params p = {.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SUBMIT_ALL,
                                .cq_entries = DONE_MAX};
    int e;

    fi_lock_init(&r->lock);
    r->interrupted = false;
    r->fd = (int)syscall(SYS_io_uring_setup, ASKED_MAX, &p);
    if (r->fd < 0)
        return -errno;
    e = (p.features & NEEDED) == NEEDED ? map_all(r, &p) : -ENOSYS;
    if (e < 0) {
        close(r->fd);
        return e;
    }
    e = try_out(r);
    if (e < 0)
        fi_ring_fini(r);
    return e;
}

/* ---- asking ---- */

/* [lock held] False: there is no place.
 * The kernel has read what was in the place; what we ask for comes before that there is one more. */
static bool put(fi_ring *r, const struct io_uring_sqe *what)
{
    uint32_t tail = fi_load_relaxed(r->asked_tail);

    if (tail - fi_init_get(r->asked_head) > r->asked_mask)
        return false;
    r->asked[tail & r->asked_mask] = *what;
    fi_init_set(r->asked_tail, tail + 1);
    return true;
}

void fi_ring_push(fi_ring *r, const struct io_uring_sqe *what)
{

    fi_lock_lock(&r->lock);
    while (!put(r, what)) {
        fi_lock_unlock(&r->lock);
        fi_ring_flush(r);
        fi_lock_lock(&r->lock);
    }
    fi_lock_unlock(&r->lock);
}

/* Relaxed: it is the kernel that reads what was asked for. */
static uint32_t pending(const fi_ring *r)
{
    return fi_load_relaxed(r->asked_tail) - fi_load_relaxed(r->asked_head);
}

/* What several hand over at once is taken once.  The kernel may be short of memory for a while. */
void fi_ring_flush(fi_ring *r)
{
    for (uint32_t n; (n = pending(r)) > 0;) {
        long e = enter(r, n, 0, 0, NULL, 0);
        check(e);
        if (e < 0)
            fi_thread_yield();
    }
}

void fi_ring_interrupt(fi_ring *r)
{
    fi_lock_lock(&r->lock);
    r->interrupted = true;
    fi_lock_unlock(&r->lock);
    fi_ring_push(r,
                 &(struct io_uring_sqe){.opcode = IORING_OP_NOP, .user_data = FI_RING_INTERRUPT});
    fi_ring_flush(r);
}

/* ---- what was done ---- */

/* [lock held] What the kernel wrote comes before that there is one more; we have read it before
 * the kernel may write there again. */
static int reap(fi_ring *r, fi_ring_done *done)
{
    uint32_t head = fi_load_relaxed(r->done_head);
    uint32_t tail = fi_init_get(r->done_tail);
    int n = 0;

    for (; head != tail && n < FI_RING_AT_ONCE; head++, n++) {
        const struct io_uring_cqe *c = &r->done[head & r->done_mask];
        done[n] = (fi_ring_done){c->user_data, c->res};
    }
    fi_init_set(r->done_head, head);
    return n;
}

/* Those that are somebody's. */
static int keep_owned(fi_ring_done *done, int n, bool *interrupt)
{
    int kept = 0;

    for (int i = 0; i < n; i++) {
        if (done[i].whose > FI_RING_INTERRUPT)
            done[kept++] = done[i];
        else if (done[i].whose == FI_RING_INTERRUPT)
            *interrupt = true;
    }
    return kept;
}

/* Somebody who only looks, and takes what was to wake who waits, has to ask for it again. */
static int take_done(fi_ring *r, fi_ring_done *done, bool waits)
{
    bool interrupt = false, again;
    int n;

    fi_lock_lock(&r->lock);
    n = keep_owned(done, reap(r, done), &interrupt);
    again = interrupt && !waits && r->interrupted;
    if (waits)
        r->interrupted = false;
    fi_lock_unlock(&r->lock);
    if (again)
        fi_ring_interrupt(r);
    return n;
}

static bool take_interrupt(fi_ring *r)
{
    bool was;

    fi_lock_lock(&r->lock);
    was = r->interrupted;
    r->interrupted = false;
    fi_lock_unlock(&r->lock);
    return was;
}

static bool is_done_empty(fi_ring *r)
{
    return fi_load_relaxed(r->done_head) == fi_load_relaxed(r->done_tail);
}

static void enter_and_wait(fi_ring *r, uint32_t n, int64_t deadline_ns)
{
    struct io_uring_getevents_arg arg = {0};
    struct __kernel_timespec t;
    int64_t ns;

    if (deadline_ns != FI_FUTEX_FOREVER) {
        ns = fi_clock_left(deadline_ns);
        t = (struct __kernel_timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
        arg.ts = (uint64_t)(uintptr_t)&t;
    }
    check(enter(r, n, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &arg, sizeof arg));
}

/* What was done is in memory: to look at it needs no call, unless there was more than fits. */
static void enter_now(fi_ring *r, uint32_t n)
{
    if (n > 0 || fi_load_relaxed(r->flags) & IORING_SQ_CQ_OVERFLOW)
        check(enter(r, n, 0, IORING_ENTER_GETEVENTS, NULL, 0));
}

int fi_ring_wait(fi_ring *r, fi_ring_done *done, int64_t deadline_ns)
{
    bool waits = deadline_ns != FI_POLL_NOW;
    uint32_t n = pending(r);

    if (waits && take_interrupt(r))
        return 0;
    if (waits && is_done_empty(r))
        enter_and_wait(r, n, deadline_ns);
    else
        enter_now(r, n);
    return is_done_empty(r) && !waits ? 0 : take_done(r, done, waits);
}
