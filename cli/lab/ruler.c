#include "ruler.h"

#include <math.h>
#include <stdio.h>

ruler ruler_new(bool log)
{
    return (ruler){.least = NAN, .most = NAN, .log = log};
}

void ruler_take(ruler *s, double value)
{
    if (!isfinite(value) || (s->log && value <= 0))
        return;
    s->least = fmin(s->least, value); /* these pass over NAN */
    s->most = fmax(s->most, value);
}

/* 1, 2 or 5 times a power of ten, and no less than `least`. */
static double whole_step(double least)
{
    double ten = pow(10, floor(log10(least)));
    double part = least / ten;
    return ten * (part <= 1.0001 ? 1 : part <= 2.0001 ? 2 : part <= 5.0001 ? 5 : 10);
}

static void widen_log(ruler *s)
{
    double air = fmax(pow(s->most / s->least, 0.04), 1.1);
    s->least /= air;
    s->most *= air;
}

static void widen_linear(ruler *s)
{
    if (s->most <= s->least) {
        s->most = s->least + (s->least != 0 ? fabs(s->least) : 1);
        return;
    }
    double step = whole_step((s->most - s->least) / 8);
    s->least = floor(s->least / step + 1e-9) * step;
    s->most = ceil(s->most / step - 1e-9) * step;
}

void ruler_round(ruler *s, double from, double to)
{
    s->from = from;
    s->to = to;
    if (isnan(s->least))
        s->least = s->most = 1;
    if (s->log)
        widen_log(s);
    else
        widen_linear(s);
}

double ruler_at(const ruler *s, double value)
{
    double part = s->log ? log(value / s->least) / log(s->most / s->least)
                         : (value - s->least) / (s->most - s->least);
    return s->from + part * (s->to - s->from);
}

/* ---- ticks ---- */

static int linear_ticks(const ruler *s, int most, double ticks[RULER_TICKS])
{
    int n = 0;
    double step = whole_step((s->most - s->least) / most);
    for (double i = ceil(s->least / step - 1e-9); n < RULER_TICKS; i++) {
        if (i * step > s->most + step * 1e-9)
            break;
        ticks[n++] = i * step + 0.0; /* no -0 */
    }
    return n;
}

/* Powers of ten; with `parts`, 2 and 5 times these, too. */
static int log_ticks(const ruler *s, int each_power, bool parts, double ticks[RULER_TICKS])
{
    static const double part[] = {1, 2, 5};
    int n = 0;
    for (int power = (int)floor(log10(s->least)); pow(10, power) <= s->most; power++) {
        if (power % each_power != 0)
            continue;
        for (int i = 0; i < (parts ? 3 : 1); i++) {
            double value = part[i] * pow(10, power);
            if (value >= s->least * 0.9999 && value <= s->most * 1.0001 && n < RULER_TICKS)
                ticks[n++] = value;
        }
    }
    return n;
}

int ruler_ticks(const ruler *s, int most, double ticks[RULER_TICKS])
{
    if (!s->log)
        return linear_ticks(s, most, ticks);
    int n = log_ticks(s, 1, true, ticks);
    for (int each = 1; n > most && each < 300; each++)
        n = log_ticks(s, each, false, ticks);
    return n;
}

void ruler_label(double value, char out[RULER_LABEL])
{
    static const struct {
        double size;
        const char *letter;
    } units[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
    for (int i = 0; i < 3; i++) {
        if (fabs(value) >= units[i].size * 0.99999) {
            snprintf(out, RULER_LABEL, "%.4g%s", value / units[i].size, units[i].letter);
            return;
        }
    }
    snprintf(out, RULER_LABEL, "%.4g", value);
}
