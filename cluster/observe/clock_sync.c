/* Estimate the difference of two clocks, for merged_trace.c. */
#include "observe/clock_sync.h"

#include <stddef.h>

/* Clocks of computers differ by less than this share.  A steeper line comes from samples that are
 * too inexact for the time between them. */
#define RATE_MAX 1e-3

static int64_t round_trip(const fi_clock_sample *s)
{
    return s->received_ns - s->sent_ns;
}

/* NULL: there is no valid sample. */
static const fi_clock_sample *best_sample(const fi_clock_sample *samples, unsigned n)
{
    const fi_clock_sample *best = NULL;

    for (unsigned i = 0; i < n; i++)
        if (samples[i].received_ns >= samples[i].sent_ns &&
            (!best || round_trip(&samples[i]) < round_trip(best)))
            best = &samples[i];
    return best;
}

static fi_clock_map map_of_one(const fi_clock_sample *s)
{
    int64_t middle = s->sent_ns + round_trip(s) / 2;

    return (fi_clock_map){
        .at_ns = middle, .offset_ns = s->remote_ns - middle, .error_ns = round_trip(s) / 2};
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

fi_clock_map fi_clock_sync(const fi_clock_sample *start, unsigned n_start,
                           const fi_clock_sample *stop, unsigned n_stop)
{
    const fi_clock_sample *first = best_sample(start, n_start), *last = best_sample(stop, n_stop);
    fi_clock_map a, b;

    if (!first && !last)
        return (fi_clock_map){.error_ns = INT64_MAX};
    if (!first || !last)
        return map_of_one(first ? first : last);
    a = map_of_one(first);
    b = map_of_one(last);
    if (b.at_ns > a.at_ns)
        a.rate = (double)(b.offset_ns - a.offset_ns) / (double)(b.at_ns - a.at_ns);
    if (b.at_ns <= a.at_ns || a.rate > RATE_MAX || a.rate < -RATE_MAX)
        return map_of_one(round_trip(first) <= round_trip(last) ? first : last);
    a.error_ns = larger(a.error_ns, b.error_ns);
    return a;
}

int64_t fi_clock_map_apply(const fi_clock_map *m, int64_t ns)
{
    return ns + m->offset_ns + (int64_t)(m->rate * (double)(ns - m->at_ns));
}

fi_clock_map fi_clock_map_invert(const fi_clock_map *m)
{
    return (fi_clock_map){.at_ns = m->at_ns + m->offset_ns,
                          .offset_ns = -m->offset_ns,
                          .rate = -m->rate / (1 + m->rate),
                          .error_ns = m->error_ns};
}
