/* Heartbeats: once a second, a rank sends BEAT to each neighbour in the tree to which it has sent
 * nothing else.  A neighbour that has been silent for silence_ns is dead, and the job ends. */
#include "protocol/topology.h"
#include "sim/world.h"

#define BEAT_NS INT64_C(1000000000)

static bool has_beats(const fi_node *node)
{
    return node->world->set->silence_ns > 0;
}

/* -1: not a neighbour. */
static int neighbour_index(const fi_node *node, unsigned other)
{
    unsigned first = fi_tree_first_child(node->number);

    if (node->number != 0 && other == fi_tree_parent(node->number))
        return 0;
    if (other >= first && other < first + node->rank.n_children)
        return (int)(1 + other - first);
    return -1;
}

static unsigned neighbour_rank(const fi_node *node, unsigned index)
{
    return index == 0 ? fi_tree_parent(node->number)
                      : fi_tree_first_child(node->number) + index - 1;
}

void fi_beat_start(fi_node *node)
{
    fi_world *w = node->world;

    if (has_beats(node))
        fi_world_push(w, w->now + (int64_t)fi_random_below(&w->random, BEAT_NS), node,
                      FI_EVENT_BEAT, NULL);
}

void fi_beat_sent(fi_node *node, unsigned to)
{
    int i = has_beats(node) ? neighbour_index(node, to) : -1;

    if (i >= 0)
        node->sent[i] = node->world->now;
}

void fi_beat_heard(fi_node *node, unsigned from)
{
    int i = has_beats(node) ? neighbour_index(node, from) : -1;

    if (i >= 0)
        node->heard[i] = node->world->now;
}

static void beat_send(fi_node *node, unsigned to)
{
    fi_packet *p = fi_packet_new(0);

    if (!p) {
        fi_world_error(node->world, "no memory for a message");
        return;
    }
    p->head = (fi_header){.kind = FI_BEAT, .from = node->number};
    fi_network_send(node, to, p);
}

static void silence_report(fi_node *node, unsigned rank)
{
    fi_sim_report *report = node->world->report;

    if (report->is_failed)
        return;
    report->is_failed = true;
    report->failed_rank = rank;
    report->failed_by = node->number;
}

void fi_beat_tick(fi_node *node)
{
    fi_world *w = node->world;

    for (unsigned i = node->number == 0 ? 1 : 0; i <= node->rank.n_children; i++) {
        unsigned other = neighbour_rank(node, i);

        if (w->now - node->sent[i] >= BEAT_NS)
            beat_send(node, other);
        if (w->now - node->heard[i] > w->set->silence_ns)
            silence_report(node, other);
    }
    fi_world_push(w, w->now + BEAT_NS, node, FI_EVENT_BEAT, NULL);
}
