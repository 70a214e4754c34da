/* Print the tables of `filch top` from two snapshots.  Called by top.c. */
#include "top_print.h"

#include "top_screen.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- parts ---- */

static void print_head(screen *s, const top_snapshot *t, const char *program)
{
    char up[16];
    screen_line(s, "%s (%d): %u worker%s, up %s", program, (int)t->pid, t->n_workers,
                t->n_workers == 1 ? "" : "s", format_duration(t->up_ns, up));
}

static void print_fibers(screen *s, const top_snapshot *t)
{
    char text[512];
    int n = snprintf(text, sizeof text,
                     "fibers  %" PRIu64 " running, %" PRIu64 " ready, %" PRIu64 " waiting",
                     t->running, t->ready, t->waiting);
    for (int i = 0; i < TOP_KINDS && t->kind[i].fibers > 0 && n < (int)sizeof text; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%" PRIu64 " %s", i == 0 ? ": " : ", ",
                      t->kind[i].fibers, t->kind[i].what);
    if (t->other_kinds > 0 && n < (int)sizeof text)
        snprintf(text + n, sizeof text - (size_t)n, ", %" PRIu64 " other", t->other_kinds);
    screen_line(s, "%s", text);
    screen_line(s, "queues  shared %" PRIu64 ", high %" PRIu64 ", low %" PRIu64, t->shared, t->high,
                t->low);
}

/* Two snapshots of one worker, or the sums over all. */
static void print_rates(screen *s, const char *name, const char *state, const top_worker *before,
                        const top_worker *now, double seconds)
{
    char t[8][8];
    screen_line(s, "%-8s %-26s %5s %5s %5s %7s %7s %7s %7s %7s  %s", name, state,
                format_count((double)now->deque, t[0]), format_count((double)now->ready, t[1]),
                format_count((double)now->inbox, t[2]),
                format_count(per_second(before->steals, now->steals, seconds), t[3]),
                format_count(per_second(before->steals_failed, now->steals_failed, seconds), t[4]),
                format_count(per_second(before->parks, now->parks, seconds), t[5]),
                format_count(per_second(before->sleeps, now->sleeps, seconds), t[6]),
                format_count(per_second(before->ended, now->ended, seconds), t[7]), now->runs);
}

static const char *state_of(const top_worker *w, const top_shares *h, char text[32])
{
    static const char *const words[] = {"asleep", "searching", "busy"};
    unsigned n = h->n_samples > 0 ? h->n_samples : 1;
    snprintf(text, 32, "%-9s %3u%% %3u%% %3u%%", w->is_lent ? "lent" : words[w->state],
             h->in[TOP_BUSY] * 100 / n, h->in[TOP_SEARCHING] * 100 / n,
             h->in[TOP_ASLEEP] * 100 / n);
    return text;
}

static top_worker sum_of(const top_snapshot *t)
{
    top_worker sum = {0};
    for (unsigned i = 0; i < t->n_workers; i++) {
        const top_worker *w = &t->worker[i];
        sum.deque += w->deque;
        sum.ready += w->ready;
        sum.inbox += w->inbox;
        sum.steals += w->steals;
        sum.steals_failed += w->steals_failed;
        sum.parks += w->parks;
        sum.sleeps += w->sleeps;
        sum.ended += w->ended;
    }
    return sum;
}

static void print_sum(screen *s, const top_snapshot *before, const top_snapshot *now,
                      double seconds)
{
    top_worker first = sum_of(before), second = sum_of(now);
    print_rates(s, "all", "", &first, &second, seconds);
}

static void print_workers(screen *s, const top_snapshot *before, const top_snapshot *now,
                          const top_shares *shares)
{
    double seconds = (double)(now->now_ns - before->now_ns) * 1e-9;
    screen_line(s, "%s", "");
    screen_line(s, "%-8s %-9s %4s %4s %5s  %5s %5s %5s %7s %7s %7s %7s %7s  %s", "worker", "now",
                "busy", "srch", "sleep", "deque", "ready", "inbox", "steal/s", "fail/s", "park/s",
                "sleep/s", "ended/s", "runs");
    for (unsigned i = 0; i < now->n_workers; i++) {
        const top_worker *w = &now->worker[i];
        char name[16], state[32];
        snprintf(name, sizeof name, "%u", i);
        print_rates(s, name, state_of(w, &shares[i], state), &before->worker[i], w, seconds);
    }
    if (now->n_workers > 1)
        print_sum(s, before, now, seconds);
}

static void print_waits(screen *s, const top_snapshot *t)
{
    if (t->wait[0].fiber == 0)
        return;
    screen_line(s, "%s", "");
    screen_line(s, "%-24s %-16s %-18s %s", "longest waits", "waits for", "object", "for");
    for (int i = 0; i < TOP_WAITS && t->wait[i].fiber != 0; i++) {
        const top_wait *w = &t->wait[i];
        char object[REMOTE_TEXT], time[16];
        screen_line(s, "%-24.24s %-16.16s %-18s %s", w->name, w->what,
                    remote_object_text(w->object, object), format_duration(w->for_ns, time));
    }
}

void top_print(FILE *out, const top_snapshot *before, const top_snapshot *now,
               const top_shares *shares, const char *program, int width, int height)
{
    screen s = {out, width, height, 0};
    print_head(&s, now, program);
    print_fibers(&s, now);
    print_workers(&s, before, now, shares);
    print_waits(&s, now);
}
