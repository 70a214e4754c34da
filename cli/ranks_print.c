/* Print a table of ranks.  Called by ranks.c. */
#include "ranks_print.h"

#include "top_screen.h"

#include <inttypes.h>

/* ---- rates ---- */

static double seconds_between(uint64_t before, uint64_t now)
{
    return now > before ? (double)(now - before) * 1e-9 : 0;
}

static ranks_rates row_rates(const filch_ranks_row *before, const filch_ranks_row *now)
{
    double s = seconds_between(before->heard_ns, now->heard_ns);
    double hungry = per_second(before->hungry_ns, now->hungry_ns, s) * 1e-9;
    return (ranks_rates){.is_known = s > 0,
                         .items = per_second(before->items, now->items, s),
                         .loots_in = per_second(before->loots_in, now->loots_in, s),
                         .loots_out = per_second(before->loots_out, now->loots_out, s),
                         .bytes_in = per_second(before->bytes_in, now->bytes_in, s),
                         .bytes_out = per_second(before->bytes_out, now->bytes_out, s),
                         .asks = per_second(before->asks, now->asks, s),
                         .hungry = hungry < 1 ? hungry : 1};
}

static void update_row(ranks_view *v, uint32_t i)
{
    const filch_ranks_row *row = &v->now.rows[i];
    if (row->heard_ns == v->last[i].heard_ns)
        return;
    if (v->last[i].heard_ns != 0)
        v->rates[i] = row_rates(&v->last[i], row);
    v->last[i] = *row;
}

static void update_sums(ranks_view *v)
{
    const filch_ranks_sums *before = &v->last_sums, *now = &v->now.head.sums;
    double s = seconds_between(before->updated_ns, now->updated_ns);
    if (before->updated_ns != 0 && s > 0)
        v->sum_rates = (ranks_rates){.is_known = true,
                                     .items = per_second(before->items, now->items, s),
                                     .loots_in = per_second(before->loots, now->loots, s),
                                     .bytes_in = per_second(before->bytes, now->bytes, s)};
    if (before->updated_ns != now->updated_ns)
        v->last_sums = *now;
}

void ranks_view_update(ranks_view *v)
{
    update_sums(v);
    for (uint32_t i = 0; i < v->now.head.rows; i++)
        update_row(v, i);
}

/* ---- text ---- */

/* A rate that is not known yet is a dash. */
static const char *format_rate(const ranks_rates *r, double rate, char text[8])
{
    if (r->is_known)
        return format_count(rate, text);
    snprintf(text, 8, "-");
    return text;
}

/* The time since a moment that another process has written. */
static int64_t age_ns(int64_t now_ns, uint64_t then_ns)
{
    return then_ns < (uint64_t)now_ns ? now_ns - (int64_t)then_ns : 0;
}

static const char *format_run(const ranks_view *v, char text[64])
{
    const filch_ranks_sums *s = &v->now.head.sums;
    char time[16];
    if (s->run == 0)
        snprintf(text, 64, "no run yet");
    else if (s->run_started_ns == 0)
        snprintf(text, 64, "run %" PRIu64 " has ended", s->run);
    else
        snprintf(text, 64, "run %" PRIu64 " for %s", s->run,
                 format_duration(age_ns(v->now.now_ns, s->run_started_ns), time));
    return text;
}

/* ---- parts ---- */

static uint64_t busy_ranks(const ranks_view *v)
{
    const filch_ranks_head *h = &v->now.head;
    uint64_t busy = 0;
    for (uint32_t i = 0; i < h->rows; i++)
        busy += v->now.rows[i].lanes > 0;
    return h->rows > 0 ? busy : h->sums.busy;
}

static int64_t oldest_silence(const ranks_view *v)
{
    const filch_ranks_head *h = &v->now.head;
    int64_t oldest = 0;
    for (uint32_t i = 0; i < h->rows; i++) {
        int64_t age = v->now.rows[i].heard_ns ? age_ns(v->now.now_ns, v->now.rows[i].heard_ns) : 0;
        oldest = age > oldest ? age : oldest;
    }
    if (h->rows == 0 && h->sums.silence_ns < INT64_MAX)
        oldest = (int64_t)h->sums.silence_ns;
    return oldest;
}

static void print_head(screen *s, const ranks_view *v, pid_t pid, const char *program)
{
    const filch_ranks_head *h = &v->now.head;
    char t[4][8], up[16], silence[16], run[64];
    screen_line(s, "%s (%d): %" PRIu32 " rank%s, up %s, %s", program, (int)pid, h->ranks,
                h->ranks == 1 ? "" : "s", format_duration(age_ns(v->now.now_ns, h->started_ns), up),
                format_run(v, run));
    screen_line(s, "items   %s, %s/s; %" PRIu64 " of %" PRIu32 " ranks busy; oldest silence %s",
                format_count((double)h->sums.items, t[0]),
                format_rate(&v->sum_rates, v->sum_rates.items, t[1]), busy_ranks(v), h->ranks,
                format_duration(oldest_silence(v), silence));
    screen_line(s, "loots   %s, %s/s; %s bytes, %s/s", format_count((double)h->sums.loots, t[0]),
                format_rate(&v->sum_rates, v->sum_rates.loots_in, t[1]),
                format_count((double)h->sums.bytes, t[2]),
                format_rate(&v->sum_rates, v->sum_rates.bytes_in, t[3]));
}

static void print_row(screen *s, const ranks_view *v, uint32_t i)
{
    const filch_ranks_row *row = &v->now.rows[i];
    const ranks_rates *r = &v->rates[i];
    char t[9][8], hungry[8], heard[16];
    if (row->heard_ns == 0) {
        screen_line(s, "%5" PRIu32 " not heard of yet", i);
        return;
    }
    snprintf(hungry, sizeof hungry, r->is_known ? "%.0f%%" : "-", r->hungry * 100);
    screen_line(s, "%5" PRIu32 " %-16.16s %7" PRIu32 " %7s %5s %6s %6s %6s %6s %6s %6s %6s %6s  %s",
                i, row->host, row->pid, format_count(row->workers, t[0]),
                format_count(row->lanes, t[1]), format_count((double)row->items, t[2]),
                format_rate(r, r->items, t[3]), format_rate(r, r->loots_in, t[4]),
                format_rate(r, r->loots_out, t[5]), format_rate(r, r->bytes_in, t[6]),
                format_rate(r, r->bytes_out, t[7]), format_rate(r, r->asks, t[8]), hungry,
                format_duration(age_ns(v->now.now_ns, row->heard_ns), heard));
}

void ranks_print(FILE *out, const ranks_view *v, pid_t pid, const char *program, int width,
                 int height)
{
    screen s = {out, width, height, 0};
    uint32_t rows = v->now.head.rows;
    print_head(&s, v, pid, program);
    screen_line(&s, "%s", "");
    if (rows == 0) {
        screen_line(&s, "more than %d ranks have no rows", FILCH_RANKS_ROWS);
        return;
    }
    screen_line(&s, "%5s %-16s %7s %7s %5s %6s %6s %6s %6s %6s %6s %6s %6s  %s", "rank", "host",
                "pid", "workers", "lanes", "items", "item/s", "in/s", "out/s", "inB/s", "outB/s",
                "asks/s", "hungry", "heard");
    for (uint32_t i = 0; i < rows; i++)
        print_row(&s, v, i);
}
