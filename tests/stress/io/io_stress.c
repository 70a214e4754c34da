/* Hundreds of connections with random deadlines, cancellations and closes.  No fiber hangs, no
 * byte is wrong, and nothing leaks. */
#include "unit/io/helpers.h"

#include "base/rng.h"
#include "seed.h"

#include <sys/socket.h>

#define PAIRS  SCALED(300)
#define ROUNDS 30

typedef struct pair {
    int fd[2];
    uint64_t seed;
    filch_fiber *side[2];
    atomic_int closed; /* set of the sides that were closed */
} pair;

static bool is_expected(ssize_t n)
{
    return n >= 0 || n == -ETIMEDOUT || n == -ECANCELED || n == -EPIPE || n == -ECONNRESET ||
           n == -EBADF;
}

static int64_t some_deadline(fi_rng *rng)
{
    switch (fi_rng_below(rng, 4)) {
    case 0:
        return 0;
    case 1:
        return filch_now() + FILCH_US(fi_rng_below(rng, 2000));
    default:
        return filch_now() + FILCH_MS(50);
    }
}

/* A closed number may belong to another pair at once, so each side closes only its own number. */
static void close_side(pair *p, int side)
{
    if (!(atomic_fetch_or(&p->closed, 1 << side) & 1 << side))
        CHECK_INT(filch_close(p->fd[side]), 0);
}

/* Sends bytes that encode their position, and checks received ones. */
static void *side_main(pair *p, int side)
{
    fi_rng rng;
    unsigned char buf[512], sent = 0, seen = 0;
    ssize_t n = 1;

    fi_rng_seed(&rng, p->seed + (uint64_t)side);
    for (int i = 0; i < ROUNDS && (n >= 0 || n == -ETIMEDOUT); i++) {
        size_t m = 1 + fi_rng_below(&rng, sizeof buf);
        if (fi_rng_below(&rng, 2)) {
            for (size_t k = 0; k < m; k++)
                buf[k] = (unsigned char)(sent + k);
            n = filch_write_until(p->fd[side], buf, m, some_deadline(&rng));
            sent = (unsigned char)(sent + (n > 0 ? n : 0));
        } else {
            n = filch_read_until(p->fd[side], buf, m, some_deadline(&rng));
            for (ssize_t k = 0; k < n; k++)
                CHECK_INT(buf[k], seen++);
            if (n == 0)
                break;
        }
        CHECK(is_expected(n));
        if (fi_rng_below(&rng, 200) == 0)
            break;
    }
    filch_fiber_uncancel();
    close_side(p, side);
    return NULL;
}

static void *left(void *arg)
{
    return side_main(arg, 0);
}

static void *right(void *arg)
{
    return side_main(arg, 1);
}

/* ---- three kinds of connections ---- */

static void connect_tcp(int listener, int fd[2])
{
    fd[0] = filch_connect("127.0.0.1", filch_local_port(listener));
    CHECK(fd[0] >= 0);
    fd[1] = filch_accept(listener);
    CHECK(fd[1] >= 0);
}

static void connect_pair(int listener, int fd[2], unsigned how)
{
    if (how == 0)
        connect_tcp(listener, fd);
    else if (how == 1)
        CHECK_INT(filch_socketpair(fd), 0);
    else
        CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0); /* foreign, in blocking mode */
}

static uint64_t seed;

static void *stress_body(void *arg)
{
    pair *all = calloc((size_t)PAIRS, sizeof *all);
    int listener = filch_listen("127.0.0.1", 0, 64);
    fi_rng rng;

    (void)arg;
    CHECK(all && listener >= 0);
    fi_rng_seed(&rng, seed);
    for (int i = 0; i < PAIRS; i++) {
        connect_pair(listener, all[i].fd, (unsigned)fi_rng_below(&rng, 3));
        all[i].seed = fi_rng_next(&rng);
        all[i].side[0] = filch_fiber_start(left, &all[i]);
        all[i].side[1] = filch_fiber_start(right, &all[i]);
        CHECK(all[i].side[0] && all[i].side[1]);
    }
    for (int i = 0; i < PAIRS; i++) {
        pair *p = &all[fi_rng_below(&rng, (uint64_t)PAIRS)];
        filch_fiber_cancel(p->side[fi_rng_below(&rng, 2)]);
        if (fi_rng_below(&rng, 8) == 0)
            filch_sleep(FILCH_US(100));
    }
    for (int i = 0; i < PAIRS; i++)
        for (int k = 0; k < 2; k++)
            CHECK_INT(filch_fiber_join(all[i].side[k], NULL), 0);
    CHECK_INT(filch_close(listener), 0);
    free(all);
    return NULL;
}

static void stress(void)
{
    for (int i = 0; i < 3; i++, seed++)
        on_fiber(stress_body, NULL);
}

/* ---- closed by another fiber ---- */

#define CLOSES SCALED(2000)

static void *read_until_closed(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char c;
    ssize_t n;

    while ((n = filch_read(fd, &c, 1)) > 0)
        ;
    return (void *)(intptr_t)n;
}

/* The reader may be at any point: before, in or after its read.  No other number is opened
 * meanwhile. */
static void *closes_body(void *arg)
{
    fi_rng rng;

    (void)arg;
    fi_rng_seed(&rng, seed++);
    for (int i = 0; i < CLOSES; i++) {
        filch_fiber *f;
        void *n;
        int fd[2];
        if (i % 2)
            CHECK_INT(filch_pipe(fd), 0);
        else
            CHECK_INT(filch_socketpair(fd), 0);
        f = filch_fiber_start(read_until_closed, (void *)(intptr_t)fd[0]);
        for (uint64_t k = fi_rng_below(&rng, 3); k > 0; k--)
            CHECK_INT(filch_write(fd[1], "x", 1), 1);
        for (uint64_t k = fi_rng_below(&rng, 4); k > 0; k--)
            filch_yield();
        CHECK_INT(filch_close(fd[0]), 0);
        CHECK_INT(filch_fiber_join(f, &n), 0);
        CHECK((intptr_t)n == -ECANCELED || (intptr_t)n == -EBADF);
        CHECK_INT(filch_close(fd[1]), 0);
    }
    return NULL;
}

static void closes(void)
{
    on_fiber(closes_body, NULL);
}

WITH_WORKERS(stress)
WITH_WORKERS(closes)

static void print_seed(void **state)
{
    (void)state;
    seed = seed_get();
}

CHECK_MAIN(print_seed, test_stress, test_closes)
