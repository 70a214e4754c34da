/* The arithmetic of work and span. */
#include "json.h"
#include "scale.h"

#include <math.h>
#include <stddef.h>

static bool seconds_of(const char *text, const char *name, double *out)
{
    double ns;
    if (!json_number(json_member(text, name), &ns))
        return false;
    *out = ns * 1e-9;
    return true;
}

bool scale_read(const char *text, scale_sums *out)
{
    return json_is_object(text) && seconds_of(text, "work_ns", &out->work) &&
           seconds_of(text, "span_ns", &out->span) &&
           seconds_of(text, "burdened_span_ns", &out->burdened_span) &&
           seconds_of(text, "burden_ns", &out->burden) &&
           seconds_of(text, "elapsed_ns", &out->elapsed) &&
           seconds_of(text, "clock_read_ns", &out->clock_read) &&
           json_number(json_member(text, "spawns"), &out->spawns) &&
           json_number(json_member(text, "pieces"), &out->pieces) &&
           json_number(json_member(text, "clock_reads"), &out->clock_reads);
}

void scale_keep_shorter(scale_sums *s, const scale_sums *other)
{
    s->work = fmin(s->work, other->work);
    s->span = fmin(s->span, other->span);
    s->burdened_span = fmin(s->burdened_span, other->burdened_span);
    s->elapsed = fmin(s->elapsed, other->elapsed);
}

static double ratio_or_1(double work, double span)
{
    return span > 0 ? work / span : 1;
}

double scale_parallelism(const scale_sums *s)
{
    return ratio_or_1(s->work, s->span);
}

double scale_burdened_parallelism(const scale_sums *s)
{
    return ratio_or_1(s->work, s->burdened_span);
}

double scale_speedup_max(const scale_sums *s, unsigned workers)
{
    return fmin(workers, scale_parallelism(s));
}

/* Brent's bound: the span, and the rest of the work shared by all workers.  One worker steals
 * nothing. */
double scale_speedup_min(const scale_sums *s, unsigned workers)
{
    double least = ratio_or_1(s->work, (s->work - s->span) / workers + s->burdened_span);
    return workers == 1 ? 1 : fmin(least, scale_speedup_max(s, workers));
}

bool scale_is_rough(const scale_sums *s)
{
    return s->clock_reads > 0 && s->work / s->clock_reads < s->clock_read;
}
