#include "sim/world.h"

#include "sim/sim.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define PROGRESS_EVENTS (UINT64_C(1) << 20)

fi_sim_settings fi_sim_defaults(void)
{
    return (fi_sim_settings){
        .ranks = 64,
        .seed = 1,
        .roots = 1,
        .item_ns = 220,
        .slow_factor = 1,
        .latency_ns = 2000,
        .byte_ns = 0.1,
        .probe_ns = 200000,
        .loot_bytes = 32768,
        .random_tries = 2,
        .answer_ns = 200000,
        .runs = 1,
    };
}

void fi_world_error(fi_world *w, const char *format, ...)
{
    va_list args;

    if (w->report->error[0] != '\0')
        return;
    va_start(args, format);
    vsnprintf(w->report->error, sizeof w->report->error, format, args);
    va_end(args);
}

/* ---- events ---- */

static bool is_beat(const fi_event *e)
{
    return e->kind == FI_EVENT_BEAT || (e->packet && e->packet->head.kind == FI_BEAT);
}

static void event_push(fi_world *w, fi_event e)
{
    w->ledger.work_events += !is_beat(&e);
    if (!fi_events_push(&w->events, e)) {
        fi_world_error(w, "no memory for an event");
        fi_packet_free(e.packet);
    }
}

void fi_world_push(fi_world *w, int64_t at, fi_node *node, fi_event_kind kind, fi_packet *p)
{
    event_push(w, (fi_event){.at = at, .packet = p, .rank = node->number, .kind = kind});
}

static bool is_out(const fi_sim_settings *set, const fi_event *e)
{
    return set->outage_ns != 0 && e->rank == set->outage_rank && e->at >= set->outage_at &&
           e->at - set->outage_at < set->outage_ns;
}

/* A rank that has stopped sees the event later, and a dead rank does not see it. */
static void event_postpone(fi_world *w, fi_event e)
{
    const fi_sim_settings *set = w->set;

    if (set->outage_ns == INT64_MAX) {
        w->report->dead_had_left = w->nodes[e.rank].left == set->runs;
        fi_packet_free(e.packet);
        return;
    }
    e.at = set->outage_at + set->outage_ns;
    event_push(w, e);
}

static void event_hash(fi_world *w, const fi_event *e)
{
    uint64_t what = (uint64_t)e->rank << 8 | e->kind;

    if (e->packet)
        what ^= (uint64_t)e->packet->head.kind << 32 ^ (uint64_t)e->packet->size << 40;
    w->report->hash = (w->report->hash ^ (uint64_t)e->at ^ what << 20) * FI_GOLDEN;
    w->report->hash ^= w->report->hash >> 32;
    w->report->events++;
}

static void event_handle(fi_world *w, const fi_event *e)
{
    fi_node *node = &w->nodes[e->rank];

    switch ((fi_event_kind)e->kind) {
    case FI_EVENT_ENTER:
        fi_thread_enter(node);
        break;
    case FI_EVENT_BLOCK:
        fi_lane_end_block(node);
        break;
    case FI_EVENT_ARRIVE:
        fi_network_arrive(node, e->packet);
        break;
    case FI_EVENT_WAKE:
        fi_thread_wake(node);
        break;
    case FI_EVENT_TIMER:
        fi_thread_timer(node);
        break;
    case FI_EVENT_BEAT:
        fi_beat_tick(node);
        break;
    }
}

static void event_next(fi_world *w)
{
    fi_event e = fi_events_pop(&w->events);

    w->now = e.at;
    w->ledger.work_events -= !is_beat(&e);
    event_hash(w, &e);
    if (is_out(w->set, &e))
        event_postpone(w, e);
    else
        event_handle(w, &e);
    if (w->set->progress && w->report->events % PROGRESS_EVENTS == 0)
        w->set->progress(w->report->items, w->set->progress_ctx);
}

/* ---- the loop ---- */

static bool is_finished(const fi_world *w)
{
    return w->finished == w->set->ranks || w->report->is_failed || w->report->error[0] != '\0';
}

static void deadlock_check(fi_world *w)
{
    bool waits_for_silence = w->set->outage_ns == INT64_MAX && w->set->silence_ns > 0;

    if (w->events.n == 0 || (w->ledger.work_events == 0 && !waits_for_silence))
        fi_world_error(w, "deadlock: nothing happens any more, and %u of %u ranks have not left",
                       w->set->ranks - w->finished, w->set->ranks);
    if (w->set->events_max != 0 && w->report->events >= w->set->events_max)
        fi_world_error(w, "no end after %" PRIu64 " events", w->report->events);
}

static void world_loop(fi_world *w)
{
    while (!is_finished(w)) {
        deadlock_check(w);
        if (w->report->error[0] == '\0')
            event_next(w);
    }
    if (w->finished == w->set->ranks)
        fi_check_finished(w);
}

/* ---- begin and end ---- */

static void slow_ranks_choose(fi_world *w)
{
    const fi_sim_settings *set = w->set;

    for (unsigned left = set->n_slow; left > 0;) {
        fi_node *node = &w->nodes[fi_random_below(&w->random, set->ranks)];

        left -= !node->is_slow;
        node->is_slow = true;
        node->item_ns = (int64_t)((double)set->item_ns * set->slow_factor);
    }
}

static void node_init(fi_world *w, unsigned i)
{
    const fi_sim_settings *set = w->set;
    fi_node *node = &w->nodes[i];
    fi_rank_settings rank = {
        .rank = i,
        .ranks = set->ranks,
        .random_tries = set->random_tries,
        .answer_ns = set->answer_ns,
        .seed = fi_random(&w->random),
    };

    *node = (fi_node){
        .world = w,
        .number = i,
        .item_ns = set->item_ns,
        .block_max = 1,
        .timer_at = INT64_MAX,
    };
    fi_rank_init(&node->rank, &rank, &fi_thread_host, node);
    fi_world_push(w, (int64_t)(fi_random_fraction(&w->random) * (double)set->enter_ns), node,
                  FI_EVENT_ENTER, NULL);
    fi_beat_start(node);
}

static int world_init(fi_world *w, const fi_sim_settings *set, fi_sim_report *report)
{
    *report = (fi_sim_report){0};
    *w = (fi_world){.set = set, .report = report, .random = set->seed};
    w->nodes = calloc(set->ranks, sizeof *w->nodes);
    if (!w->nodes) {
        fi_world_error(w, "no memory for %u ranks", set->ranks);
        return -1;
    }
    w->expected = set->known ? *set->known : fi_tree_walk(&set->tree, 0, set->roots);
    for (unsigned i = 0; i < set->ranks; i++)
        node_init(w, i);
    slow_ranks_choose(w);
    return 0;
}

static void packets_free(fi_packets *list)
{
    fi_packet *p;

    while ((p = fi_packets_pop(list)) != NULL)
        fi_packet_free(p);
}

static void world_fini(fi_world *w)
{
    for (unsigned i = 0; w->nodes && i < w->set->ranks; i++) {
        fi_bag_free(&w->nodes[i].bag);
        packets_free(&w->nodes[i].inbox);
        packets_free(&w->nodes[i].outbox);
        packets_free(&w->nodes[i].shelf);
    }
    free(w->nodes);
    fi_events_free(&w->events);
}

static void report_add(fi_sim_report *report, const fi_rank_counters *c)
{
    report->asks += c->asks;
    report->lifes += c->lifes;
    report->refusals += c->refusals;
    report->loots += c->loots_out;
    report->gifts += c->gifts_out;
    report->waves = c->waves > report->waves ? c->waves : report->waves;
}

static void report_fill(fi_world *w)
{
    const fi_sim_settings *set = w->set;
    fi_sim_report *report = w->report;
    double speed = set->ranks - set->n_slow + set->n_slow / set->slow_factor;

    report->ns = w->now;
    if (w->now > 0)
        report->efficiency =
            (double)report->items * (double)set->item_ns / (speed * (double)w->now);
    for (unsigned i = 0; i < set->ranks; i++)
        report_add(report, &w->nodes[i].rank.counters);
}

int fi_sim_run(const fi_sim_settings *set, fi_sim_report *report)
{
    fi_world w;

    if (world_init(&w, set, report) == 0) {
        world_loop(&w);
        report_fill(&w);
    }
    world_fini(&w);
    return report->error[0] == '\0' ? 0 : -1;
}
