/* What only a ring can get wrong: bytes that come with the deadline, threads that end, kernels that refuse. */
#include "unit/io/fibers.h"

#include "refuse.h"
#include "seed.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static const filch_config by_ring = {.io = FILCH_IO_URING};

static fi_io *room(void)
{
    fi_runtime *rt = fi_runtime_lock_running();
    fi_io *io = rt ? fi_io_look(rt) : NULL;

    fi_runtime_unlock_running();
    return io;
}

static void use_sockets(void)
{
    int fd[2];
    char c = 0;

    CHECK_INT(filch_socketpair(fd), 0);
    CHECK_INT(filch_write(fd[1], "x", 1), 1);
    CHECK_INT(filch_read(fd[0], &c, 1), 1);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
}

static void *use_sockets_body(void *arg)
{
    use_sockets();
    return arg;
}

/* ---- which one ---- */

static bool has_ring_with(filch_io io)
{
    bool has;

    CHECK_INT(filch_start(&(filch_config){.workers = 1, .io = io}), 0);
    on_fiber(use_sockets_body, NULL);
    CHECK(room() != NULL);
    has = room()->has_ring;
    CHECK_INT(filch_stop(), 0);
    return has;
}

static void test_choice(void **state)
{
    (void)state;
    CHECK(has_ring_with(FILCH_IO_URING));
    CHECK(!has_ring_with(FILCH_IO_EPOLL));
}

enum { FELL_BACK = 10, HAS_RING, NO_FILTER };

static int child_without(unsigned call)
{
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0)
        _exit(!refuse_call(call, EPERM)       ? NO_FILTER
              : has_ring_with(FILCH_IO_URING) ? HAS_RING
                                              : FELL_BACK);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* It works without, and nobody is told. */
static void test_refused(void **state)
{
    int e = child_without(SYS_io_uring_setup);

    (void)state;
    if (e == NO_FILTER)
        return;
    CHECK_INT(e, FELL_BACK);
    CHECK_INT(child_without(SYS_io_uring_enter), FELL_BACK);
}

/* ---- bytes and deadlines ---- */

#define BYTES SCALED(20000)

static void *read_impatiently(void *arg)
{
    int fd = (int)(intptr_t)arg;
    uint64_t x = seed_get() | 1;
    unsigned all = 0;

    while (all < BYTES) {
        unsigned char c[3];
        ssize_t n;
        x = x * UINT64_C(6364136223846793005) + 1;
        n = filch_read_until(fd, c, sizeof c, filch_now() + (int64_t)(x >> 33) % 30000);
        if (n == -ETIMEDOUT)
            continue;
        CHECK(n > 0);
        for (ssize_t i = 0; i < n; i++)
            CHECK_INT(c[i], (all + (unsigned)i) % 251);
        all += (unsigned)n;
    }
    return NULL;
}

static void *write_slowly(void *arg)
{
    for (unsigned i = 0; i < BYTES; i++) {
        unsigned char c = (unsigned char)(i % 251);
        CHECK_INT(filch_write((int)(intptr_t)arg, &c, 1), 1);
        if (i % 3 == 0)
            filch_sleep(FILCH_US(i % 7));
    }
    return NULL;
}

/* None is lost, and none comes where nobody looks any more. */
static void no_byte_lost(void)
{
    int fd[2];
    filch_fiber *f[2];

    CHECK_INT(filch_socketpair(fd), 0);
    f[0] = filch_fiber_start(read_impatiently, (void *)(intptr_t)fd[0]);
    f[1] = filch_fiber_start(write_slowly, (void *)(intptr_t)fd[1]);
    for (int i = 0; i < 2; i++)
        CHECK_INT(filch_fiber_join(f[i], NULL), 0);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
}

/* ---- threads that end ---- */

static void *read_one(void *arg)
{
    char c;

    return (void *)filch_read((int)(intptr_t)arg, &c, 1);
}

static void *flush(void *arg)
{
    fi_ring_flush(arg);
    return NULL;
}

/* While we do not wait, no worker hands over what the other asks for. */
static void *hand_over_elsewhere(void *arg)
{
    filch_fiber *f;
    void *n = NULL;
    int fd[2];

    CHECK_INT(filch_socketpair(fd), 0);
    f = filch_fiber_start(read_one, (void *)(intptr_t)fd[0]);
    await_waiting(fd[0], FI_IO_READ, 1);
    in_thread(flush, &room()->ring);
    CHECK(!fi_ring_is_pending(&room()->ring));
    CHECK_INT(filch_write(fd[1], "x", 1), 1);
    CHECK_INT(filch_fiber_join(f, &n), 0);
    CHECK_INT((intptr_t)n, 1);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
    return arg;
}

static void thread_ends(void)
{
    for (int i = 0; i < 20; i++)
        on_fiber(hand_over_elsewhere, NULL);
}

/* ---- busy workers ---- */

/* It neither waits nor yields, and still what was asked for here is handed over, by others.  That it is more than once is
 * for workers that do not sleep yet. */
static void *be_busy(void *arg)
{
    fi_ring *r = &room()->ring;

    for (int i = 0; i < 10; i++) {
        fi_ring_push(r, &(struct io_uring_sqe){.opcode = IORING_OP_NOP});
        while (fi_ring_is_pending(r))
            ;
    }
    return arg;
}

static void test_busy(void **state)
{
    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 2, .io = FILCH_IO_URING}), 0);
    on_fiber(use_sockets_body, NULL);
    on_fiber(be_busy, NULL);
    CHECK_INT(filch_stop(), 0);
}

/* ---- guests ---- */

FILCH_VOID_TASK(ask_for_nothing)
{
    fi_ring_push(&room()->ring, &(struct io_uring_sqe){.opcode = IORING_OP_NOP});
}

/* A guest leaves as soon as its task is done: the worker has to hand over what it has asked for. */
static void guest_leaves(void)
{
    on_fiber(use_sockets_body, NULL);
    for (int i = 0; i < 100; i++) {
        FILCH_RUN(ask_for_nothing);
        while (fi_ring_is_pending(&room()->ring))
            sched_yield();
    }
}

/* ---- closing ---- */

/* All of them have ended, and so the other side sees the end. */
static void closed(void)
{
    for (int i = 0; i < 50; i++) {
        int fd[2];
        filch_fiber *f;
        void *n = NULL;
        char c;
        CHECK_INT(filch_socketpair(fd), 0);
        f = filch_fiber_start(read_one, (void *)(intptr_t)fd[0]);
        if (i % 2)
            await_waiting(fd[0], FI_IO_READ, 1);
        CHECK_INT(filch_close(fd[0]), 0);
        CHECK(fi_fds_look(&room()->fds, fd[0])->requests == NULL || i % 2 == 0);
        CHECK_INT(filch_fiber_join(f, &n), 0);
        CHECK((intptr_t)n == -ECANCELED || ((intptr_t)n == -EBADF && i % 2 == 0));
        CHECK_INT(filch_read(fd[1], &c, 1), 0);
        CHECK_INT(filch_close(fd[1]), 0);
    }
}

#define BY_RING(name)                                                                              \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        workers_each(&by_ring, name);                                                              \
    }
BY_RING(no_byte_lost)
BY_RING(thread_ends)
BY_RING(guest_leaves)
BY_RING(closed)

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_TEST(test_choice),       CHECK_TEST(test_refused),
                                       CHECK_TEST(test_no_byte_lost), CHECK_TEST(test_thread_ends),
                                       CHECK_TEST(test_busy),         CHECK_TEST(test_guest_leaves),
                                       CHECK_TEST(test_closed)};
    fi_ring r;
    int e = fi_ring_init(&r);

    if (e < 0) {
        printf("no ring here: %s\n", strerror(-e));
        return 77;
    }
    fi_ring_fini(&r);
    return CHECK_RUN(tests);
}
