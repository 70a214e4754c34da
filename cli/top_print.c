/* Print the tables of `filch top` from two copies of a page.  Called by top.c. */
#include "top_print.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* What fits on the screen. */
typedef struct screen {
    FILE *out;
    int width, height, lines;
} screen;

/* How many bytes the character has that begins here; 0: it is none, or one that a terminal
 * obeys. */
static int character_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    int n = c[0] < 0x80   ? 1
            : c[0] < 0xc2 ? 0
            : c[0] < 0xe0 ? 2
            : c[0] < 0xf0 ? 3
            : c[0] < 0xf5 ? 4
                          : 0;
    for (int i = 1; i < n; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    return c[0] < ' ' || c[0] == 0x7f || (c[0] == 0xc2 && c[1] < 0xa0) ? 0 : n;
}

/* A name may be anything, or cut off in the middle of a character. */
static void print_text(const screen *s, const char *text)
{
    for (int column = 0; column < s->width && *text; column++) {
        int n = character_length(text);
        fwrite(n > 0 ? text : "?", n > 0 ? (size_t)n : 1, 1, s->out);
        text += n > 0 ? n : 1;
    }
}

__attribute__((format(printf, 2, 3))) static void screen_line(screen *s, const char *format, ...)
{
    char text[512];
    va_list args;
    if (s->height > 0 && s->lines >= s->height)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (s->lines++ > 0)
        fputc('\n', s->out);
    print_text(s, text);
}

/* ---- numbers ---- */

static double per_second(uint64_t before, uint64_t now, double seconds)
{
    return seconds > 0 && now >= before ? (double)(now - before) / seconds : 0;
}

/* In five letters. */
static const char *format_count(double n, char text[8])
{
    if (n < 9999.5)
        snprintf(text, 8, "%.0f", n);
    else if (n < 999.5e3)
        snprintf(text, 8, "%.0fk", n * 1e-3);
    else
        snprintf(text, 8, "%.1fM", n < 999e6 ? n * 1e-6 : 999.0);
    return text;
}

static const char *format_duration(int64_t ns, char text[16])
{
    double s = (double)ns * 1e-9;
    if (s < 1)
        snprintf(text, 16, "%.0f ms", s * 1e3);
    else if (s < 120)
        snprintf(text, 16, "%.1f s", s);
    else if (s < 7200)
        snprintf(text, 16, "%.0f min", s / 60);
    else
        snprintf(text, 16, "%.1f h", s / 3600);
    return text;
}

/* ---- parts ---- */

static void print_head(screen *s, const filch_top *t, const char *program)
{
    char up[16];
    screen_line(s, "%s (%d): %u workers, up %s", program, (int)t->pid, t->workers,
                format_duration(t->now_ns - t->began_ns, up));
}

static void print_fibers(screen *s, const filch_top *t)
{
    char text[512];
    int n = snprintf(text, sizeof text,
                     "fibers  %" PRIu64 " running, %" PRIu64 " ready, %" PRIu64 " waiting",
                     t->running, t->ready, t->waiting);
    for (int i = 0; i < FILCH_TOP_KINDS && t->kind[i].fibers > 0 && n < (int)sizeof text; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%" PRIu64 " %s", i == 0 ? ": " : ", ",
                      t->kind[i].fibers, t->kind[i].what);
    if (t->other_kinds > 0 && n < (int)sizeof text)
        snprintf(text + n, sizeof text - (size_t)n, ", %" PRIu64 " other", t->other_kinds);
    screen_line(s, "%s", text);
    screen_line(s, "queues  shared %" PRIu64 ", high %" PRIu64 ", low %" PRIu64, t->shared, t->high,
                t->low);
}

static uint64_t steals_of(const filch_counters *c)
{
    return c->steals_single + c->steals_multiple;
}

/* The queues of one worker, or of all. */
typedef struct lengths {
    uint64_t deque, ready, inbox;
} lengths;

static void print_rates(screen *s, const char *name, const char *state, lengths q,
                        const filch_counters *before, const filch_counters *now, double seconds,
                        const char *runs)
{
    char t[8][8];
    screen_line(
        s, "%-8s %-26s %5s %5s %5s %7s %7s %7s %7s %7s  %s", name, state,
        format_count((double)q.deque, t[0]), format_count((double)q.ready, t[1]),
        format_count((double)q.inbox, t[2]),
        format_count(per_second(steals_of(before), steals_of(now), seconds), t[3]),
        format_count(per_second(before->steals_failed, now->steals_failed, seconds), t[4]),
        format_count(per_second(before->parks, now->parks, seconds), t[5]),
        format_count(per_second(before->sleeps, now->sleeps, seconds), t[6]),
        format_count(per_second(before->jobs + before->fibers, now->jobs + now->fibers, seconds),
                     t[7]),
        runs);
}

static const char *state_of(const filch_top_worker *w, const top_shares *h, char text[32])
{
    static const char *const words[] = {"asleep", "searching", "busy"};
    unsigned n = h->n_samples > 0 ? h->n_samples : 1;
    snprintf(text, 32, "%-9s %3u%% %3u%% %3u%%", w->caller_runs ? "lent" : words[w->state % 3],
             h->in[FILCH_TOP_BUSY] * 100 / n, h->in[FILCH_TOP_SEARCHING] * 100 / n,
             h->in[FILCH_TOP_ASLEEP] * 100 / n);
    return text;
}

static void counters_add(filch_counters *to, const filch_counters *c)
{
    to->steals_single += steals_of(c);
    to->steals_failed += c->steals_failed;
    to->parks += c->parks;
    to->sleeps += c->sleeps;
    to->jobs += c->jobs + c->fibers;
}

static void print_sum(screen *s, const filch_top *before, const filch_top *now, double seconds)
{
    filch_counters first = {0}, second = {0};
    lengths q = {0};
    for (unsigned i = 0; i < now->workers; i++) {
        const filch_top_worker *w = &now->worker[i];
        counters_add(&first, &before->worker[i].counters);
        counters_add(&second, &w->counters);
        q = (lengths){q.deque + w->deque, q.ready + w->ready, q.inbox + w->inbox};
    }
    print_rates(s, "all", "", q, &first, &second, seconds, "");
}

static void print_workers(screen *s, const filch_top *before, const filch_top *now,
                          const top_shares *shares)
{
    double seconds = (double)(now->now_ns - before->now_ns) * 1e-9;
    screen_line(s, "%s", "");
    screen_line(s, "%-8s %-9s %4s %4s %5s  %5s %5s %5s %7s %7s %7s %7s %7s  %s", "worker", "now",
                "busy", "srch", "sleep", "deque", "ready", "inbox", "steal/s", "fail/s", "park/s",
                "sleep/s", "ended/s", "runs");
    for (unsigned i = 0; i < now->workers; i++) {
        const filch_top_worker *w = &now->worker[i];
        char name[16], state[32];
        snprintf(name, sizeof name, "%u", i);
        print_rates(s, name, state_of(w, &shares[i], state),
                    (lengths){w->deque, w->ready, w->inbox}, &before->worker[i].counters,
                    &w->counters, seconds, w->runs);
    }
    if (now->workers > 1)
        print_sum(s, before, now, seconds);
}

static void print_waits(screen *s, const filch_top *t)
{
    if (t->wait[0].fiber == 0)
        return;
    screen_line(s, "%s", "");
    screen_line(s, "%-24s %-16s %-18s %s", "slowest waits", "for", "object", "since");
    for (int i = 0; i < FILCH_TOP_WAITS && t->wait[i].fiber != 0; i++) {
        const filch_top_wait *w = &t->wait[i];
        char since[16];
        screen_line(s, "%-24.24s %-16.16s %#-18" PRIx64 " %s", w->name, w->what, w->object,
                    format_duration(w->for_ns, since));
    }
}

void top_print(FILE *out, const filch_top *before, const filch_top *now, const top_shares *shares,
               const char *program, int width, int height)
{
    screen s = {out, width, height, 0};
    print_head(&s, now, program);
    print_fibers(&s, now);
    print_workers(&s, before, now, shares);
    print_waits(&s, now);
}
