/* Random 4 KiB reads of one file: what a read costs by each method, and how many there are in a
 * second.  Prints one line: method, file, reads in flight, CPU time of a read, reads per second.
 *
 *     file-reads FILE METHOD cached|uncached|direct IN_FLIGHT READS
 *
 * METHOD is pread (a plain thread), threads (fibers, filch_run_blocking), nowait (fibers,
 * preadv2 with RWF_NOWAIT, then filch_run_blocking), filch (fibers, filch_pread), uring (a thread,
 * one io_uring_enter for each read), or uring-batch (one for all completed reads). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <filch/fiber.h>
#include <filch/io.h>
#include <filch/runtime.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define SIZE          4096
#define IN_FLIGHT_MAX 256

static int file;
static off_t blocks;
static atomic_long left;
static _Alignas(SIZE) char buffers[IN_FLIGHT_MAX][SIZE];

static void fail(const char *what, int error)
{
    fprintf(stderr, "file-reads: %s: %s\n", what, strerror(error));
    exit(1);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static off_t next_offset(uint64_t *state)
{
    return (off_t)(next_random(state) % (uint64_t)blocks) * SIZE;
}

static void check_read(ssize_t n)
{
    if (n != SIZE)
        fail("short read", n < 0 ? (int)-n : EIO);
}

/* ---- fibers ---- */

typedef struct request {
    char *buf;
    off_t offset;
} request;

static int64_t read_blocking(void *arg)
{
    const request *r = arg;
    ssize_t n = pread(file, r->buf, SIZE, r->offset);

    return n < 0 ? -errno : n;
}

static ssize_t read_by_threads(request *r)
{
    return (ssize_t)filch_run_blocking(read_blocking, r);
}

static ssize_t read_nowait(request *r)
{
    ssize_t n = preadv2(file, &(struct iovec){r->buf, SIZE}, 1, r->offset, RWF_NOWAIT);

    return n == SIZE ? n : read_by_threads(r);
}

static ssize_t read_by_filch(request *r)
{
    return filch_pread(file, r->buf, SIZE, r->offset);
}

typedef ssize_t read_method(request *r);
static read_method *chosen;

static void *read_on_fiber(void *arg)
{
    size_t id = (size_t)(uintptr_t)arg;
    uint64_t seed = 88172645463325252u + id * 7919u;

    while (atomic_fetch_sub(&left, 1) > 0) {
        request r = {buffers[id], next_offset(&seed)};
        check_read(chosen(&r));
    }
    return NULL;
}

static void run_on_fibers(unsigned in_flight)
{
    filch_fiber *f[IN_FLIGHT_MAX];

    for (unsigned i = 0; i < in_flight; i++)
        f[i] = filch_fiber_start(read_on_fiber, (void *)(uintptr_t)i);
    for (unsigned i = 0; i < in_flight; i++)
        filch_fiber_join(f[i], NULL);
}

static void run_pread(unsigned in_flight)
{
    uint64_t seed = 88172645463325252u;

    (void)in_flight;
    while (atomic_fetch_sub(&left, 1) > 0)
        check_read(pread(file, buffers[0], SIZE, next_offset(&seed)));
}

/* ---- io_uring ---- */

typedef struct ring {
    int fd;
    _Atomic uint32_t *sq_tail, *cq_head, *cq_tail;
    uint32_t sq_mask, cq_mask;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
} ring;

static void ring_init(ring *r)
{
    struct io_uring_params p = {.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN};
    char *at;

    r->fd = (int)syscall(SYS_io_uring_setup, IN_FLIGHT_MAX, &p);
    if (r->fd < 0)
        fail("io_uring_setup", errno);
    at = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
              PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQ_RING);
    r->sqes = mmap(NULL, p.sq_entries * sizeof *r->sqes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQES);
    if (at == MAP_FAILED || r->sqes == MAP_FAILED)
        fail("mmap", errno);
    r->sq_tail = (void *)(at + p.sq_off.tail);
    r->cq_head = (void *)(at + p.cq_off.head);
    r->cq_tail = (void *)(at + p.cq_off.tail);
    r->sq_mask = *(uint32_t *)(void *)(at + p.sq_off.ring_mask);
    r->cq_mask = *(uint32_t *)(void *)(at + p.cq_off.ring_mask);
    r->cqes = (void *)(at + p.cq_off.cqes);
    for (uint32_t i = 0; i < p.sq_entries; i++)
        ((uint32_t *)(void *)(at + p.sq_off.array))[i] = i;
}

static void ring_enter(ring *r, unsigned submit, unsigned wait)
{
    unsigned flags = wait > 0 ? IORING_ENTER_GETEVENTS : 0;

    if (syscall(SYS_io_uring_enter, r->fd, submit, wait, flags, NULL, 0) < 0)
        fail("io_uring_enter", errno);
}

static void ring_push(ring *r, uint64_t id, off_t offset)
{
    uint32_t tail = atomic_load_explicit(r->sq_tail, memory_order_relaxed);

    r->sqes[tail & r->sq_mask] = (struct io_uring_sqe){.opcode = IORING_OP_READ,
                                                       .fd = file,
                                                       .off = (uint64_t)offset,
                                                       .addr = (uintptr_t)buffers[id],
                                                       .len = SIZE,
                                                       .user_data = id};
    atomic_store_explicit(r->sq_tail, tail + 1, memory_order_release);
}

static void run_ring(unsigned in_flight, bool batch)
{
    uint64_t seed = 88172645463325252u;
    unsigned running = 0, pushed = 0;
    ring r;

    ring_init(&r);
    for (unsigned i = 0; i < in_flight && atomic_fetch_sub(&left, 1) > 0; i++, running++) {
        ring_push(&r, i, next_offset(&seed));
        ring_enter(&r, 1, 0);
    }
    while (running > 0) {
        uint32_t head = atomic_load_explicit(r.cq_head, memory_order_relaxed);
        ring_enter(&r, pushed, 1);
        pushed = 0;
        while (head != atomic_load_explicit(r.cq_tail, memory_order_acquire)) {
            const struct io_uring_cqe *c = &r.cqes[head++ & r.cq_mask];
            uint64_t id = c->user_data;
            check_read(c->res);
            atomic_store_explicit(r.cq_head, head, memory_order_release);
            if (atomic_fetch_sub(&left, 1) <= 0) {
                running--;
                continue;
            }
            ring_push(&r, id, next_offset(&seed));
            if (batch)
                pushed++;
            else
                ring_enter(&r, 1, 0);
        }
    }
    close(r.fd);
}

static void run_uring(unsigned in_flight)
{
    run_ring(in_flight, false);
}

static void run_uring_batch(unsigned in_flight)
{
    run_ring(in_flight, true);
}

/* ---- main ---- */

static const struct {
    const char *name;
    void (*run)(unsigned in_flight);
    read_method *method;
} methods[] = {
    {"pread", run_pread, NULL},
    {"threads", run_on_fibers, read_by_threads},
    {"nowait", run_on_fibers, read_nowait},
    {"filch", run_on_fibers, read_by_filch},
    {"uring", run_uring, NULL},
    {"uring-batch", run_uring_batch, NULL},
};

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double cpu_time(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return seconds(u.ru_utime) + seconds(u.ru_stime);
}

static double clock_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void open_file(const char *path, const char *state)
{
    struct stat st;
    bool is_cached = strcmp(state, "cached") == 0;

    file = open(path, O_RDONLY | (strcmp(state, "direct") == 0 ? O_DIRECT : 0));
    if (file < 0 || fstat(file, &st) < 0)
        fail(path, errno);
    blocks = st.st_size / SIZE;
    if (is_cached) {
        blocks = blocks < 16384 ? blocks : 16384;
        for (off_t i = 0; i < blocks; i++)
            check_read(pread(file, buffers[0], SIZE, i * SIZE));
    } else {
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
    }
}

static void run_method(size_t i, const char *state, unsigned in_flight, long reads)
{
    double cpu, clock;

    chosen = methods[i].method;
    atomic_store(&left, 100); /* starts the runtime and its threads */
    methods[i].run(in_flight);
    cpu = cpu_time();
    clock = clock_time();
    atomic_store(&left, reads);
    methods[i].run(in_flight);
    cpu = cpu_time() - cpu;
    clock = clock_time() - clock;
    printf("%-12s %-9s %3u %8.2f us %9.0f /s\n", methods[i].name, state, in_flight,
           cpu / (double)reads * 1e6, (double)reads / clock);
}

int main(int argc, char **argv)
{
    unsigned in_flight = argc == 6 ? (unsigned)atoi(argv[4]) : 0;
    long reads = argc == 6 ? atol(argv[5]) : 0;

    if (in_flight < 1 || in_flight > IN_FLIGHT_MAX || reads < 1) {
        fputs("usage: file-reads FILE METHOD cached|uncached|direct IN_FLIGHT READS\n", stderr);
        return 2;
    }
    open_file(argv[1], argv[3]);
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(methods[i].name, argv[2]) == 0) {
            run_method(i, argv[3], in_flight, reads);
            return 0;
        }
    fprintf(stderr, "file-reads: unknown method (%s)\n", argv[2]);
    return 2;
}
