/* Times of two clocks that differ in offset and speed are converted, up to the error of the
 * samples. */
#include "check.h"

#include "observe/clock_sync.h"

#define SECOND INT64_C(1000000000)

static void no_sample_changes_nothing(void **state)
{
    fi_clock_map m = fi_clock_sync(NULL, 0, NULL, 0), zeros = {0};

    (void)state;
    CHECK_INT(m.error_ns, INT64_MAX);
    CHECK_INT(fi_clock_map_apply(&m, 12345), 12345);
    CHECK_INT(fi_clock_map_apply(&zeros, INT64_C(1) << 60), INT64_C(1) << 60);
}

static void the_shortest_round_trip_is_used(void **state)
{
    const fi_clock_sample samples[] = {
        {.sent_ns = 0, .received_ns = 900, .remote_ns = 1000},
        {.sent_ns = 2000, .received_ns = 2100, .remote_ns = 2550},
        {.sent_ns = 4000, .received_ns = 3000, .remote_ns = 0}, /* impossible */
        {.sent_ns = 5000, .received_ns = 5500, .remote_ns = 0},
    };
    fi_clock_map m = fi_clock_sync(samples, 4, NULL, 0);

    (void)state;
    CHECK_INT(m.error_ns, 50);
    CHECK_INT(m.offset_ns, 500);
    CHECK_INT(fi_clock_map_apply(&m, 10000), 10500);
    m = fi_clock_sync(NULL, 0, samples, 4);
    CHECK_INT(fi_clock_map_apply(&m, 10000), 10500);
}

/* The other clock is 7 s ahead and 40 us per second faster. */
static int64_t other_clock(int64_t ns)
{
    return ns + 7 * SECOND + ns / 25000;
}

static fi_clock_sample sample_at(int64_t ns, int64_t there, int64_t back)
{
    return (fi_clock_sample){
        .sent_ns = ns, .received_ns = ns + there + back, .remote_ns = other_clock(ns + there)};
}

static void drift_is_a_line(void **state)
{
    fi_clock_sample start[] = {sample_at(100 * SECOND, 90000, 1000),
                               sample_at(101 * SECOND, 2000, 2500)};
    fi_clock_sample stop[] = {sample_at(700 * SECOND, 2500, 2000),
                              sample_at(701 * SECOND, 900, 9000)};
    fi_clock_map m = fi_clock_sync(start, 2, stop, 2);

    (void)state;
    CHECK_INT(m.error_ns, 2250);
    for (int64_t t = 90 * SECOND; t < 720 * SECOND; t += 10 * SECOND) {
        int64_t error = fi_clock_map_apply(&m, t) - other_clock(t);
        CHECK(error < 2300 && error > -2300);
    }
}

/* Two samples in a row give no slope: their own error is larger than the drift. */
static void an_implausible_slope_is_ignored(void **state)
{
    fi_clock_sample start = {.sent_ns = 0, .received_ns = 2000, .remote_ns = 1000};
    fi_clock_sample stop = {.sent_ns = 10000, .received_ns = 11000, .remote_ns = 10900};
    fi_clock_map m = fi_clock_sync(&start, 1, &stop, 1);

    (void)state;
    CHECK(m.rate == 0);
    CHECK_INT(m.offset_ns, 400);
    m = fi_clock_sync(&stop, 1, &start, 1); /* in the wrong order */
    CHECK(m.rate == 0);
}

static void order_is_kept(void **state)
{
    const double rates[] = {-1e-3, -4e-5, 0, 1e-3};

    (void)state;
    for (int r = 0; r < 4; r++) {
        fi_clock_map m = {.at_ns = 5000, .offset_ns = -300, .rate = rates[r]};
        for (int64_t t = 0; t < 20000; t++)
            CHECK(fi_clock_map_apply(&m, t) <= fi_clock_map_apply(&m, t + 1));
    }
}

static void an_inverted_map_leads_back(void **state)
{
    fi_clock_map m = {.at_ns = 3 * SECOND, .offset_ns = -SECOND, .rate = 8e-5, .error_ns = 30};
    fi_clock_map back = fi_clock_map_invert(&m);

    (void)state;
    CHECK_INT(back.error_ns, 30);
    for (int64_t t = 0; t < 1000 * SECOND; t += 7 * SECOND + 1) {
        int64_t error = fi_clock_map_apply(&back, fi_clock_map_apply(&m, t)) - t;

        CHECK(error <= 2 && error >= -2);
    }
}

CHECK_MAIN(no_sample_changes_nothing, the_shortest_round_trip_is_used, drift_is_a_line,
           an_implausible_slope_is_ignored, order_is_kept, an_inverted_map_leads_back)
