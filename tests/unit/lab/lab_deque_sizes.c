/* Deque sizes, computed from files of known samples. */
#include "check.h"

#include "lab/deque_sizes.h"
#include "observe/samples.h"
#include "samples.h"

#include <math.h>
#include <unistd.h>

#define CHECK_NEAR(a, b) CHECK(fabs((a) - (b)) < 1e-9)

enum { GRID = 100, TICKS_PER_SECOND = 1000000000 };

typedef struct moment {
    uint64_t stamp;
    uint32_t up, down, top; /* of the second deque; the first does not change */
} moment;

static char file[] = "/tmp/filch-lab-sizes-XXXXXX";

static void write_file(const moment *m, int n, const char *kind)
{
    filch_samples_head head = {.ticks_per_second = TICKS_PER_SECOND};
    fi_samples s;
    int fd = mkstemp(file);

    CHECK(fd >= 0);
    snprintf(head.kind, sizeof head.kind, "%s", kind);
    CHECK_INT(fi_samples_init(&s, 2, 1 << 16), 0);
    for (int i = 0; i < n; i++) {
        fi_sample *next = fi_samples_next(&s);
        next->stamp = m[i].stamp;
        next->values[FILCH_SAMPLES_COLUMNS + FILCH_SAMPLES_BOTTOM_INCS] = m[i].up;
        next->values[FILCH_SAMPLES_COLUMNS + FILCH_SAMPLES_BOTTOM_DECS] = m[i].down;
        next->values[FILCH_SAMPLES_COLUMNS + FILCH_SAMPLES_TOP] = m[i].top;
        fi_samples_commit(&s);
    }
    CHECK_INT(fi_samples_write(&s, &head, fd), 0);
    fi_samples_fini(&s);
    close(fd);
}

static deque_sizes sizes_of(const moment *m, int n, const char *kind)
{
    samples s;
    deque_sizes z;

    write_file(m, n, kind);
    CHECK(samples_open(&s, file) == NULL);
    CHECK_STR(s.head.kind, kind);
    CHECK_INT(deque_sizes_find(&z, &s, GRID), 0);
    CHECK_INT(z.deques, 2);
    samples_close(&s);
    unlink(file);
    memset(file + strlen(file) - 6, 'X', 6); /* for the next one */
    return z;
}

/* Samples before the first change and after the last are left out. */
static void idle_ends_are_left_out(void **state)
{
    static const moment m[] = {{0, 0, 0, 0},     {10000, 0, 0, 0}, {10100, 1, 0, 0},
                               {10200, 2, 0, 0}, {10300, 2, 1, 0}, {10400, 2, 1, 1},
                               {90000, 2, 1, 1}};
    deque_sizes z = sizes_of(m, 7, "batch");
    const transitions *c = &z.of[1].transitions;

    (void)state;
    CHECK_INT(z.first, 1);
    CHECK_INT(z.last, 5);
    CHECK_NEAR(z.ticks, 400);
    CHECK_NEAR(z.min_gap, 100);
    CHECK_NEAR(z.median_gap, 100);
    CHECK_NEAR(z.unseen, 0);
    CHECK_NEAR(transitions_probability(c, 1), 0.5);
    CHECK_NEAR(transitions_probability(c, -1), 0.5);
    CHECK_NEAR(transitions_probability(&z.of[0].transitions, 0), 1);
    CHECK_INT(z.of[1].up, 2);
    CHECK_INT(z.of[1].down, 1);
    CHECK_INT(z.of[1].top, 1);
    CHECK_INT(z.of[1].largest, 2);
    CHECK_NEAR(z.of[1].mean, (0 + 1 + 2 + 1) / 4.0);
    deque_sizes_free(&z);
}

/* The owner pops at the top. */
static void a_fifo(void **state)
{
    static const moment m[] = {
        {100, 0, 0, 0}, {200, 2, 0, 0}, {300, 2, 0, 1}, {400, 2, 0, 2}, {500, 2, 0, 2}};
    deque_sizes z = sizes_of(m, 5, "half");

    (void)state;
    CHECK_INT(z.of[1].largest, 2);
    CHECK_NEAR(transitions_probability(&z.of[1].transitions, 2), 1 / 3.0);
    CHECK_NEAR(transitions_probability(&z.of[1].transitions, -1), 2 / 3.0);
    deque_sizes_free(&z);
}

static void the_curve_shows_the_maximum(void **state)
{
    static const moment m[] = {{0, 0, 0, 0},   {24, 5, 0, 0},  {25, 5, 4, 0},
                               {120, 5, 4, 0}, {239, 5, 4, 0}, {240, 5, 5, 0}};
    deque_sizes z = sizes_of(m, 6, "batch");
    const int32_t *curve = z.of[1].curve;

    (void)state;
    CHECK_NEAR(z.ticks, 240); /* so each part of the curve is one tick */
    CHECK_INT(curve[0], 0);
    CHECK_INT(curve[23], 0);
    CHECK_INT(curve[24], 5);
    CHECK_INT(curve[25], 5); /* held until the next sample, which is in this part */
    CHECK_INT(curve[26], 1);
    CHECK_INT(curve[238], 1);
    CHECK_INT(curve[DEQUE_SIZES_CURVE - 1], 1);
    deque_sizes_free(&z);
}

/* 30 us without a sample, while 1000 tasks were pushed and popped. */
static void gaps_of_the_sampler_are_left_out(void **state)
{
    static const moment m[] = {{0, 0, 0, 0},
                               {100, 1, 0, 0},
                               {30100, 1001, 990, 0},
                               {30200, 1001, 991, 0},
                               {30300, 1001, 1001, 0}};
    deque_sizes z = sizes_of(m, 5, "batch");
    const transitions *c = &z.of[1].transitions;

    (void)state;
    CHECK_NEAR(z.unseen, 30000 / 30300.0);
    CHECK_NEAR(c->steps, 3);
    CHECK_NEAR(transitions_probability(c, 1), 1 / 3.0);
    CHECK_NEAR(transitions_probability(c, -1), 1 / 3.0);
    CHECK_NEAR(transitions_beyond(c, 2), 1 / 3.0);
    CHECK_INT(z.of[1].up, 1);
    CHECK_INT(z.of[1].down, 11);
    deque_sizes_free(&z);
}

static void no_change(void **state)
{
    static const moment m[] = {{0, 0, 0, 0}, {100, 0, 0, 0}, {200, 0, 0, 0}};
    deque_sizes z = sizes_of(m, 3, "batch");
    deque_sizes empty = sizes_of(m, 0, "batch");

    (void)state;
    CHECK_NEAR(z.ticks, 0);
    CHECK_NEAR(z.of[1].transitions.steps, 0);
    CHECK_NEAR(empty.ticks, 0);
    deque_sizes_free(&z);
    deque_sizes_free(&empty);
}

CHECK_MAIN(idle_ends_are_left_out, a_fifo, the_curve_shows_the_maximum,
           gaps_of_the_sampler_are_left_out, no_change)
