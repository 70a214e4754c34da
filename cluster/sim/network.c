/* The network: each message takes its own time, so messages overtake each other. */
#include "sim/world.h"

enum { LATE_ONE_IN = 8, LATE_LATENCIES = 20 };

static int64_t message_ns(fi_world *w, const fi_packet *p)
{
    const fi_sim_settings *set = w->set;
    double latencies = 1;

    if (set->jitter > 0)
        latencies += set->jitter * fi_random_fraction(&w->random);
    if (set->reorder && fi_random_below(&w->random, LATE_ONE_IN) == 0)
        latencies += LATE_LATENCIES * fi_random_fraction(&w->random);
    return (int64_t)(latencies * (double)set->latency_ns +
                     set->byte_ns * (double)fi_packet_bytes(p));
}

void fi_network_send(fi_node *from, unsigned to, fi_packet *p)
{
    fi_world *w = from->world;

    w->report->messages++;
    w->report->bytes += fi_packet_bytes(p);
    if (to >= w->set->ranks || to == from->number) {
        fi_world_error(w, "rank %u sends %s to rank %u", from->number, fi_kind_name(p->head.kind),
                       to);
        fi_packet_free(p);
        return;
    }
    fi_check_send(from, &w->nodes[to], p);
    fi_beat_sent(from, to);
    fi_world_push(w, w->now + message_ns(w, p), &w->nodes[to], FI_EVENT_ARRIVE, p);
}

void fi_network_arrive(fi_node *to, fi_packet *p)
{
    fi_packets_push(&to->inbox, p);
    fi_thread_ring(to);
}
