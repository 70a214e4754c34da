/* The random number generator: known outputs, distribution, independent streams.  Seeds are fixed,
 * so the statistics are the same each time. */
#include "base/rng.h"
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* Computed by a second implementation in another language. */
static void test_known_answers(void **state)
{
    static const struct {
        uint64_t seed, next[4];
    } known[] = {
        {0, {0x6f68e1e7e2646ee1, 0xbf971b7f454094ad, 0x48f2de556f30de38, 0x6ea7c59f89bbfc75}},
        {1, {0x08260b0f1b52fcac, 0x5d9320f71ce29ff1, 0x28197699ec67f190, 0x593b393b9d1e5795}},
        {0xdeadbeef,
         {0x91610de552443e0b, 0x1805b6da6d10413f, 0xfd56497c8b255620, 0xc39c76e2d0a177cc}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        fi_rng r;
        fi_rng_seed(&r, known[i].seed);
        for (int j = 0; j < 4; j++)
            CHECK(fi_rng_next(&r) == known[i].next[j]);
    }
}

static void test_same_seed_same_stream(void **state)
{
    fi_rng a, b;

    (void)state;
    fi_rng_seed(&a, 42);
    fi_rng_seed(&b, 42);
    for (int i = 0; i < 1000; i++)
        CHECK(fi_rng_next(&a) == fi_rng_next(&b));
}

/* Neighbouring seeds: on average half of the bits differ, so of 64000 some 32000 with a standard
 * deviation of 126. */
static void test_streams_are_independent(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 64; seed++) {
        fi_rng a, b;
        int differ = 0;
        fi_rng_seed(&a, seed);
        fi_rng_seed(&b, seed + 1);
        for (int i = 0; i < 1000; i++)
            differ += __builtin_popcountll(fi_rng_next(&a) ^ fi_rng_next(&b));
        CHECK(differ > 32000 - 6 * 126 && differ < 32000 + 6 * 126);
    }
}

/* No stream is a shifted copy of another, as with a plain SplitMix64. */
static void test_streams_are_not_shifted(void **state)
{
    enum { N = 256 };
    const uint64_t step = 0x9e3779b97f4a7c15;
    uint64_t seen[N];
    fi_rng a, b;

    (void)state;
    fi_rng_seed(&a, 7);
    fi_rng_seed(&b, 7 + step);
    for (int i = 0; i < N; i++)
        seen[i] = fi_rng_next(&a);
    for (int i = 0; i < N; i++) {
        uint64_t x = fi_rng_next(&b);
        for (int j = 0; j < N; j++)
            CHECK(x != seen[j]);
    }
}

/* Each of the 64 bits is set half of the time: 50000 of 100000, standard deviation 158. */
static void test_every_bit_varies(void **state)
{
    int set[64] = {0};
    fi_rng r;

    (void)state;
    fi_rng_seed(&r, 3);
    for (int i = 0; i < 100000; i++) {
        uint64_t x = fi_rng_next(&r);
        for (int b = 0; b < 64; b++)
            set[b] += (int)(x >> b & 1);
    }
    for (int b = 0; b < 64; b++)
        CHECK(set[b] > 50000 - 6 * 158 && set[b] < 50000 + 6 * 158);
}

/* Chi-square of n cells: its mean is n - 1, its variance 2 (n - 1).  A good generator stays within
 * six deviations, a bad one is far outside. */
static void check_even(const uint32_t *cell, unsigned n, uint32_t draws)
{
    double expected = (double)draws / n, chi = 0, d = n - 1.0;

    for (unsigned i = 0; i < n; i++)
        chi += (cell[i] - expected) * (cell[i] - expected) / expected;
    printf("chi-square over %u cells: %.1f\n", n, chi);
    CHECK((chi - d) * (chi - d) < 36 * 2 * d);
}

static void check_below(uint32_t n)
{
    enum { DRAWS = 200000 };
    uint32_t cell[128] = {0};
    fi_rng r;

    fi_rng_seed(&r, n);
    for (int i = 0; i < DRAWS; i++) {
        uint32_t x = fi_rng_below(&r, n);
        CHECK(x < n);
        cell[x]++;
    }
    check_even(cell, n, DRAWS);
}

static void test_below_is_even(void **state)
{
    (void)state;
    check_below(2);
    check_below(3);
    check_below(10);
    check_below(64);
    check_below(100);
    check_below(127);
}

static void test_below_one_and_zero(void **state)
{
    fi_rng r;

    (void)state;
    fi_rng_seed(&r, 5);
    for (int i = 0; i < 1000; i++) {
        CHECK_INT(fi_rng_below(&r, 1), 0);
        CHECK_INT(fi_rng_below(&r, 0), 0);
    }
}

/* With a power of two no draw is rejected: the result is the top bits of one draw. */
static void test_below_power_of_two(void **state)
{
    fi_rng r, same;

    (void)state;
    fi_rng_seed(&r, 6);
    fi_rng_seed(&same, 6);
    for (unsigned bits = 1; bits < 32; bits++)
        for (int i = 0; i < 100; i++)
            CHECK(fi_rng_below(&r, UINT32_C(1) << bits) == fi_rng_next(&same) >> (64 - bits));
}

static void check_thirds(uint32_t n)
{
    enum { DRAWS = 300000 };
    uint32_t cell[3] = {0};
    fi_rng r;

    fi_rng_seed(&r, n);
    for (int i = 0; i < DRAWS; i++) {
        uint32_t x = fi_rng_below(&r, n);
        CHECK(x < n);
        cell[(uint64_t)x * 3 / n]++;
    }
    check_even(cell, 3, DRAWS);
}

/* With 3 * 2^30, a plain product without rejection would give every third number twice as often as
 * the others, and the remainder of a division would favour the first third. */
static void test_below_large(void **state)
{
    enum { DRAWS = 300000 };
    uint32_t cell[3] = {0};
    fi_rng r;

    (void)state;
    check_thirds(UINT32_MAX);
    check_thirds(UINT32_C(3) << 30);
    fi_rng_seed(&r, 8);
    for (int i = 0; i < DRAWS; i++)
        cell[fi_rng_below(&r, UINT32_C(3) << 30) % 3]++;
    check_even(cell, 3, DRAWS);
}

static void *first_draws(void *arg)
{
    uint64_t *draw = arg;

    draw[0] = fi_rng_next(fi_rng_thread());
    draw[1] = fi_rng_next(fi_rng_thread());
    return fi_rng_thread();
}

static void test_thread_streams_differ(void **state)
{
    enum { THREADS = 4 };
    uint64_t draw[THREADS + 1][2];
    pthread_t thread[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, first_draws, draw[i]), 0);
    CHECK(first_draws(draw[THREADS]) == fi_rng_thread());
    for (int i = 0; i < THREADS; i++) {
        void *theirs = NULL;
        pthread_join(thread[i], &theirs);
        CHECK(theirs != fi_rng_thread());
    }
    for (int i = 0; i <= THREADS; i++) {
        CHECK(draw[i][0] != draw[i][1]);
        for (int j = 0; j < i; j++)
            CHECK(draw[i][0] != draw[j][0]);
    }
}

/* Draws of a fork child: from a generator of the parent, and from that of its first thread. */
static void draw_in_child(fi_rng *held, uint64_t draw[2])
{
    int ends[2], status;
    pthread_t thread;
    uint64_t theirs[2];

    CHECK_INT(pipe(ends), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        draw[0] = fi_rng_next(held);
        if (pthread_create(&thread, NULL, first_draws, theirs) != 0 ||
            pthread_join(thread, NULL) != 0)
            _exit(1);
        draw[1] = theirs[0];
        _exit(write(ends[1], draw, 2 * sizeof *draw) == 2 * sizeof *draw ? 0 : 1);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_INT(read(ends[0], draw, 2 * sizeof *draw), 2 * sizeof *draw);
    close(ends[0]);
    close(ends[1]);
}

/* Two children, forked directly after each other, their parent, and a new thread of each. */
static void test_forked_streams_differ(void **state)
{
    uint64_t draw[6], theirs[2];
    fi_rng *held = fi_rng_thread();
    pthread_t thread;

    (void)state;
    draw_in_child(held, &draw[0]);
    draw_in_child(held, &draw[2]);
    draw[4] = fi_rng_next(held);
    CHECK_INT(pthread_create(&thread, NULL, first_draws, theirs), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    draw[5] = theirs[0];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            CHECK(draw[i] != draw[j]);
}

/* A test can seed the generator of a thread to be reproducible. */
static void test_thread_can_be_seeded(void **state)
{
    fi_rng r;

    (void)state;
    fi_rng_seed(&r, 99);
    fi_rng_seed(fi_rng_thread(), 99);
    for (int i = 0; i < 100; i++)
        CHECK(fi_rng_next(fi_rng_thread()) == fi_rng_next(&r));
}

CHECK_MAIN(test_known_answers, test_same_seed_same_stream, test_streams_are_independent,
           test_streams_are_not_shifted, test_every_bit_varies, test_below_is_even,
           test_below_one_and_zero, test_below_power_of_two, test_below_large,
           test_thread_streams_differ, test_forked_streams_differ, test_thread_can_be_seeded)
