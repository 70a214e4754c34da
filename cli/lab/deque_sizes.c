/* Compute the history of each deque from samples.  Called by probabilities.c after each run. */
#include "deque_sizes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#define UNSEEN_SECONDS 20e-6

/* Has any deque changed from one sample to the next? */
static bool is_change(const samples *s, uint64_t i)
{
    static const uint32_t moves[] = {FILCH_SAMPLES_BOTTOM_INCS, FILCH_SAMPLES_BOTTOM_DECS,
                                     FILCH_SAMPLES_TOP};
    for (uint32_t d = 0; d < s->head.deques; d++)
        for (int c = 0; c < 3; c++)
            if (samples_value(s, i, d, moves[c]) != samples_value(s, i + 1, d, moves[c]))
                return true;
    return false;
}

/* first: the last sample before the first change; last: the first sample after the last change. */
static void find_ends(deque_sizes *z, const samples *s)
{
    uint64_t n = s->head.samples;
    z->first = 0;
    z->last = n > 0 ? n - 1 : 0;
    while (z->first < z->last && !is_change(s, z->first))
        z->first++;
    while (z->last > z->first && !is_change(s, z->last - 1))
        z->last--;
}

static double gap_after(const samples *s, uint64_t i)
{
    uint64_t a = samples_stamp(s, i), b = samples_stamp(s, i + 1);
    return b > a ? (double)(b - a) : 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int find_median_gap(deque_sizes *z, const samples *s)
{
    size_t n = 0;
    double *gaps = malloc((z->last - z->first + 1) * sizeof *gaps);
    if (!gaps)
        return -ENOMEM;
    for (uint64_t i = z->first; i < z->last; i++)
        if (is_change(s, i))
            gaps[n++] = gap_after(s, i);
    qsort(gaps, n, sizeof *gaps, by_size);
    z->median_gap = n > 0 ? gaps[n / 2] : 0;
    free(gaps);
    return 0;
}

/* Did workers run while the sampler was away too long? */
static bool gap_is_unseen(const samples *s, uint64_t i)
{
    return gap_after(s, i) > UNSEEN_SECONDS * (double)s->head.ticks_per_second && is_change(s, i);
}

static void find_gaps(deque_sizes *z, const samples *s)
{
    double unseen = 0;
    for (uint64_t i = z->first; i < z->last; i++) {
        double g = gap_after(s, i);
        if (z->min_gap == 0 || g < z->min_gap)
            z->min_gap = g;
        if (gap_is_unseen(s, i))
            unseen += g;
        z->ticks += g;
    }
    z->unseen = z->ticks > 0 ? unseen / z->ticks : 0;
}

static int32_t size_at(const samples *s, uint64_t i, uint32_t deque)
{
    int32_t size = samples_deque_size(s, i, deque);
    return size > 0 ? size : 0;
}

static int part_of(const deque_sizes *z, const samples *s, uint64_t i)
{
    double since = (double)(samples_stamp(s, i) - samples_stamp(s, z->first));
    int part = z->ticks > 0 ? (int)(since / z->ticks * DEQUE_SIZES_CURVE) : 0;
    return part < DEQUE_SIZES_CURVE ? part : DEQUE_SIZES_CURVE - 1;
}

/* A size holds until the next sample. */
static void history_curve(const deque_sizes *z, const samples *s, uint32_t deque,
                          deque_history *out)
{
    for (uint64_t i = z->first; i <= z->last; i++) {
        int32_t size = size_at(s, i, deque);
        int end = i < z->last ? part_of(z, s, i + 1) : DEQUE_SIZES_CURVE - 1;
        for (int part = part_of(z, s, i); part <= end; part++)
            if (size > out->curve[part])
                out->curve[part] = size;
    }
}

static uint32_t increments(const samples *s, uint64_t i, uint32_t deque, uint32_t column)
{
    return samples_value(s, i + 1, deque, column) - samples_value(s, i, deque, column);
}

/* Account for sample i + 1. */
static void history_add_sample(const samples *s, uint64_t i, uint32_t deque, deque_history *out)
{
    uint64_t stamp = samples_stamp(s, i + 1);
    int32_t size = samples_deque_size(s, i + 1, deque);
    if (gap_is_unseen(s, i)) {
        transitions_skip(&out->transitions, stamp, size);
        return;
    }
    transitions_add(&out->transitions, stamp, size);
    out->up += increments(s, i, deque, FILCH_SAMPLES_BOTTOM_INCS);
    out->down += increments(s, i, deque, FILCH_SAMPLES_BOTTOM_DECS);
    out->top += increments(s, i, deque, FILCH_SAMPLES_TOP);
}

static void history_read(const deque_sizes *z, const samples *s, uint32_t deque, uint64_t grid,
                         deque_history *out)
{
    double weighed = 0;
    transitions_begin(&out->transitions, grid, samples_stamp(s, z->first),
                      samples_deque_size(s, z->first, deque));
    for (uint64_t i = z->first; i <= z->last; i++) {
        int32_t size = size_at(s, i, deque);
        if (size > out->largest)
            out->largest = size;
        if (i == z->last)
            break;
        weighed += size * gap_after(s, i);
        history_add_sample(s, i, deque, out);
    }
    out->mean = z->ticks > 0 ? weighed / z->ticks : 0;
    history_curve(z, s, deque, out);
}

int deque_sizes_find(deque_sizes *z, const samples *s, uint64_t grid)
{
    *z = (deque_sizes){.deques = s->head.deques};
    z->of = calloc(z->deques, sizeof *z->of);
    if (!z->of)
        return -ENOMEM;
    if (s->head.samples == 0)
        return 0;
    find_ends(z, s);
    find_gaps(z, s);
    if (find_median_gap(z, s) < 0)
        return -ENOMEM;
    for (uint32_t d = 0; d < z->deques; d++)
        history_read(z, s, d, grid, &z->of[d]);
    return 0;
}

void deque_sizes_free(deque_sizes *z)
{
    free(z->of);
}

static void write_deque(const deque_history *d, FILE *out)
{
    fprintf(out, "{\"p\":[");
    for (int l = -2; l <= 2; l++)
        fprintf(out, "%s%.9f", l > -2 ? "," : "", transitions_probability(&d->transitions, l));
    fprintf(out,
            "],\"beyond\":%.9f,\"steps\":%.0f,\"up\":%" PRIu32 ",\"down\":%" PRIu32
            ",\"top\":%" PRIu32 ",\"mean\":%.4f,\"largest\":%" PRId32 ",\"curve\":[",
            transitions_beyond(&d->transitions, 2), d->transitions.steps, d->up, d->down, d->top,
            d->mean, d->largest);
    for (int i = 0; i < DEQUE_SIZES_CURVE; i++)
        fprintf(out, "%s%" PRId32, i > 0 ? "," : "", d->curve[i]);
    fprintf(out, "]}");
}

void deque_sizes_write(const deque_sizes *z, const samples *s, uint64_t grid, FILE *out)
{
    fprintf(out,
            "{\"kind\":\"%s\",\"clock\":\"%s\",\"ticks_per_second\":%" PRIu64
            ",\"samples\":%" PRIu64 ",\"taken\":%" PRIu64 ",\"dropped\":%" PRIu64
            ",\"grid\":%" PRIu64
            ",\"ticks\":%.0f,\"min_gap\":%.0f,\"median_gap\":%.0f,\"unseen\":%.6f,\"deques\":[",
            s->head.kind, s->head.clock, s->head.ticks_per_second, s->head.samples, s->head.taken,
            s->head.dropped, grid, z->ticks, z->min_gap, z->median_gap, z->unseen);
    for (uint32_t d = 0; d < z->deques; d++) {
        fputs(d > 0 ? "," : "", out);
        write_deque(&z->of[d], out);
    }
    fprintf(out, "]}");
}
