/* Falls, and then rises: by the rule, and only where it is sure. */
#include "check.h"

#include "lab/u_shape.h"

#include <math.h>

enum { CALLS = 12, PLACES = 5 };

/* Numbers about a middle, spread by that much to both sides. */
static lab_numbers about(double room[CALLS], double middle, double spread)
{
    for (int i = 0; i < CALLS; i++)
        room[i] = middle + spread * (2.0 * i / (CALLS - 1) - 1);
    return (lab_numbers){room, CALLS};
}

static u_shape of(const double middles[PLACES], double spread)
{
    static double room[PLACES][CALLS];
    lab_numbers at[PLACES];

    for (int i = 0; i < PLACES; i++)
        at[i] = about(room[i], middles[i], spread);
    return u_shape_of(at, PLACES);
}

static void a_bowl(void **state)
{
    u_shape b = of((const double[]){900, 300, 99, 150, 199}, 20);

    (void)state;
    CHECK_INT(b.least, 2);
    CHECK(b.falls && b.rises);
    CHECK(fabs(b.fall - 9.01) < 1e-9);
    CHECK(fabs(b.rise - 2.0) < 1e-9);
}

static void a_slope(void **state)
{
    u_shape down = of((const double[]){900, 300, 200, 150, 100}, 20);
    u_shape up = of((const double[]){100, 150, 200, 300, 900}, 20);

    (void)state;
    CHECK_INT(down.least, 4);
    CHECK(down.falls && !down.rises);
    CHECK_INT(up.least, 0);
    CHECK(!up.falls && up.rises);
}

/* The least is inside, as it always is somewhere; but that may be chance. */
static void noise(void **state)
{
    u_shape b = of((const double[]){104, 101, 100, 102, 103}, 90);

    (void)state;
    CHECK_INT(b.least, 2);
    CHECK(!b.falls && !b.rises);
}

static void none_at_all(void **state)
{
    u_shape b = of((const double[]){50, 10, 0, 0, 0}, 0);
    lab_numbers nothing[PLACES] = {{NULL, 0}};

    (void)state;
    CHECK_INT(b.least, 2);
    CHECK(b.falls && !b.rises);
    CHECK(fabs(b.fall - 51) < 1e-9);
    CHECK_INT(u_shape_of(nothing, PLACES).least, -1);
}

/* One call at each place says nothing for sure. */
static void single_calls(void **state)
{
    const double y[] = {900, 100, 900};
    lab_numbers at[] = {{&y[0], 1}, {&y[1], 1}, {&y[2], 1}};
    u_shape b = u_shape_of(at, 3);

    (void)state;
    CHECK_INT(b.least, 1);
    CHECK(!b.falls && !b.rises);
}

CHECK_MAIN(a_bowl, a_slope, noise, none_at_all, single_calls)
