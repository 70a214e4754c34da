/* The communication thread of a rank, which drives the protocol.  It sleeps while there is nothing
 * to do.  A message or its lane wakes it up.  A hungry rank probes for a while before it sleeps. */
#include "sim/world.h"

#include <inttypes.h>

#define CALL 0x11u

static int64_t random_ns(fi_world *w, int64_t max)
{
    return (int64_t)(fi_random_fraction(&w->random) * (double)max);
}

/* ---- host of the protocol ---- */

static void host_send(void *ctx, unsigned to, fi_packet *p)
{
    fi_network_send(ctx, to, p);
}

/* A rank with the result of a handler is not passive before its thread knows the result. */
static fi_activity host_activity(void *ctx)
{
    const fi_node *node = ctx;

    if (node->is_running || node->bag.n > 0 || node->shelf.n > 0 || node->handler_result != 0)
        return FI_BUSY;
    return node->outbox.n > 0 ? FI_HUNGRY : FI_PASSIVE;
}

static void host_want(void *ctx, unsigned n)
{
    fi_node *node = ctx;

    node->wanted = n;
}

static void host_open(void *ctx, fi_packet *p)
{
    fi_node *node = ctx;

    node->has_opened = true;
    fi_check_open(node, p);
    fi_lane_open(node, p);
}

static void host_drop(void *ctx)
{
    fi_lane_drop(ctx);
}

static void host_combine(void *ctx, const void *other)
{
    fi_node *node = ctx;
    const fi_tree_sum *sum = other;

    node->acc.count += sum->count;
    node->acc.hash += sum->hash;
}

static void host_leave(void *ctx, int result)
{
    fi_node *node = ctx;
    fi_world *w = node->world;

    node->left = node->rank.run - 1;
    fi_check_leave(node, result);
    w->report->result = result;
    if (node->left == w->set->runs)
        w->finished++;
    else
        fi_world_push(w, w->now + random_ns(w, w->set->enter_ns), node, FI_EVENT_ENTER, NULL);
}

static void host_fail(void *ctx, int error)
{
    const fi_node *node = ctx;

    fi_world_error(node->world, "rank %u: the protocol reports error %d", node->number, error);
}

const fi_host fi_thread_host = {
    .send = host_send,
    .activity = host_activity,
    .want = host_want,
    .open = host_open,
    .drop = host_drop,
    .combine = host_combine,
    .leave = host_leave,
    .fail = host_fail,
};

/* ---- work of the thread ---- */

static void message_handle(fi_node *node, fi_packet *p)
{
    bool is_loot = p->head.kind == FI_LOOT || p->head.kind == FI_GIFT;
    size_t items = is_loot ? fi_loot_items(p) : 0;

    fi_check_arrive(node, p);
    fi_beat_heard(node, p->head.from);
    if (p->head.kind == FI_BEAT) {
        fi_packet_free(p);
        return;
    }
    node->has_opened = false;
    fi_rank_receive(&node->rank, p, node->world->now);
    if (!node->has_opened) /* the protocol has dropped the loot */
        node->world->ledger.items -= items;
}

static void loots_send(fi_node *node)
{
    fi_packet *p;

    while ((p = fi_packets_pop(&node->outbox)) != NULL)
        if (!fi_rank_give(&node->rank, p))
            fi_lane_open(node, p); /* no thief waits any more */
}

static void result_report(fi_node *node)
{
    int result = node->handler_result;

    if (result == 0)
        return;
    node->handler_result = 0;
    fi_ledger_of(node->world, node->rank.run)->has_handler_result = true;
    fi_rank_stop(&node->rank, result);
}

static void timer_set(fi_node *node)
{
    int64_t deadline = fi_rank_deadline(&node->rank);

    if (deadline >= node->timer_at)
        return;
    node->timer_at = deadline;
    fi_world_push(node->world, deadline, node, FI_EVENT_TIMER, NULL);
}

static void thread_handle(fi_node *node)
{
    fi_packet *p;

    while ((p = fi_packets_pop(&node->inbox)) != NULL)
        message_handle(node, p);
    result_report(node);
    loots_send(node);
    fi_rank_step(&node->rank, node->world->now);
    fi_check_rank(node);
    timer_set(node);
    if (host_activity(node) == FI_PASSIVE)
        node->probe_until = node->world->now + node->world->set->probe_ns;
}

/* ---- sleep ---- */

static bool is_probing(fi_node *node)
{
    return node->world->now < node->probe_until && host_activity(node) == FI_PASSIVE;
}

void fi_thread_ring(fi_node *node)
{
    fi_world *w = node->world;

    if (node->is_waking)
        return;
    if (w->set->wake_ns == 0 || is_probing(node)) {
        thread_handle(node);
        return;
    }
    node->is_waking = true;
    fi_world_push(w, w->now + random_ns(w, w->set->wake_ns), node, FI_EVENT_WAKE, NULL);
}

void fi_thread_wake(fi_node *node)
{
    node->is_waking = false;
    thread_handle(node);
}

void fi_thread_timer(fi_node *node)
{
    node->timer_at = INT64_MAX;
    thread_handle(node);
}

/* ---- runs ---- */

/* The root that rank 0 has in the first run moves with each run. */
static unsigned root_owner(const fi_sim_settings *set, unsigned root, uint32_t run)
{
    return (unsigned)(((uint64_t)root * set->ranks / set->roots + 5 * (uint64_t)(run - 1)) %
                      set->ranks);
}

static void roots_take(fi_node *node)
{
    const fi_sim_settings *set = node->world->set;

    for (unsigned i = 0; i < set->roots; i++) {
        if (root_owner(set, i, node->rank.run) != node->number)
            continue;
        if (!fi_bag_push(&node->bag, fi_tree_root(&set->tree, i)))
            fi_world_error(node->world, "no memory for the items of rank %u", node->number);
        node->world->ledger.items++;
    }
}

void fi_thread_enter(fi_node *node)
{
    const fi_sim_settings *set = node->world->set;
    uint32_t run = node->rank.run;
    bool is_other = run == set->mismatch_run && node->number == set->mismatch_rank;

    node->acc = (fi_tree_sum){0};
    roots_take(node);
    fi_ledger_of(node->world, run)->entered++;
    fi_rank_begin(&node->rank, is_other ? CALL + 1 : CALL, &node->acc, sizeof node->acc,
                  node->world->now);
    if (node->bag.n > 0)
        fi_lane_start(node);
    fi_check_rank(node);
    timer_set(node);
}
