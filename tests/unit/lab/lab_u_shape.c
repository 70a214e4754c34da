/* Detection of a U-shape: a significant fall, then a significant rise. */
#include "check.h"

#include "lab/u_shape.h"

#include <math.h>

enum { CALLS = 12, POINTS = 5 };

/* Numbers around a middle, with this spread to both sides. */
static lab_numbers about(double numbers[CALLS], double middle, double spread)
{
    for (int i = 0; i < CALLS; i++)
        numbers[i] = middle + spread * (2.0 * i / (CALLS - 1) - 1);
    return (lab_numbers){numbers, CALLS};
}

static u_shape shape_of(const double middles[POINTS], double spread)
{
    static double numbers[POINTS][CALLS];
    lab_numbers at[POINTS];

    for (int i = 0; i < POINTS; i++)
        at[i] = about(numbers[i], middles[i], spread);
    return u_shape_of(at, POINTS);
}

static void a_u_shape(void **state)
{
    u_shape b = shape_of((const double[]){900, 300, 99, 150, 199}, 20);

    (void)state;
    CHECK_INT(b.min_index, 2);
    CHECK(b.falls && b.rises);
    CHECK(fabs(b.fall - 9.01) < 1e-9);
    CHECK(fabs(b.rise - 2.0) < 1e-9);
}

static void a_slope(void **state)
{
    u_shape down = shape_of((const double[]){900, 300, 200, 150, 100}, 20);
    u_shape up = shape_of((const double[]){100, 150, 200, 300, 900}, 20);

    (void)state;
    CHECK_INT(down.min_index, 4);
    CHECK(down.falls && !down.rises);
    CHECK_INT(up.min_index, 0);
    CHECK(!up.falls && up.rises);
}

/* The minimum is inside, but the difference is not significant. */
static void noise(void **state)
{
    u_shape b = shape_of((const double[]){104, 101, 100, 102, 103}, 90);

    (void)state;
    CHECK_INT(b.min_index, 2);
    CHECK(!b.falls && !b.rises);
}

static void no_numbers(void **state)
{
    u_shape b = shape_of((const double[]){50, 10, 0, 0, 0}, 0);
    lab_numbers nothing[POINTS] = {{NULL, 0}};

    (void)state;
    CHECK_INT(b.min_index, 2);
    CHECK(b.falls && !b.rises);
    CHECK(fabs(b.fall - 51) < 1e-9);
    CHECK_INT(u_shape_of(nothing, POINTS).min_index, -1);
}

/* One call per point is never significant. */
static void single_calls(void **state)
{
    const double y[] = {900, 100, 900};
    lab_numbers at[] = {{&y[0], 1}, {&y[1], 1}, {&y[2], 1}};
    u_shape b = u_shape_of(at, 3);

    (void)state;
    CHECK_INT(b.min_index, 1);
    CHECK(!b.falls && !b.rises);
}

CHECK_MAIN(a_u_shape, a_slope, noise, no_numbers, single_calls)
