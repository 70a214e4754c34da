/* The model of a lane.  A block is computed when it starts and takes effect when it ends.  The
 * number of items in a block adapts, so that a block takes 5 to 20 us.
 * The constants are those of run/lanes.c. */
#include "sim/world.h"

#include <string.h>

#define BLOCK_NS_MIN 5000
#define BLOCK_NS_MAX 20000

/* The work in a bag that is split.  With 4 us, G13 with 1,024 ranks loses 2 points. */
#define LOOT_NS_MIN 2000

enum { BLOCK_ITEMS_MAX = 65536, FLOOR_MIN = 2, FLOOR_MAX = 64 };

size_t fi_loot_items(const fi_packet *p)
{
    return p->size / sizeof(fi_item);
}

void fi_lane_start(fi_node *node)
{
    fi_world *w = node->world;
    size_t before = node->bag.n;
    uint64_t stop_every = w->set->stop_every;
    unsigned n;

    n = fi_bag_process(&node->bag, &w->set->tree, node->block_max, stop_every, &node->acc);
    if (n == 0) {
        fi_world_error(w, "no memory for the items of rank %u", node->number);
        return;
    }
    w->ledger.items += node->bag.n - before;
    w->report->items += n;
    w->ledger.running++;
    node->is_running = true;
    node->block_is_full = n == node->block_max;
    node->block_has_result = stop_every != 0 && node->bag.last % stop_every == 0;
    node->block_ns = n * node->item_ns;
    fi_world_push(w, w->now + node->block_ns, node, FI_EVENT_BLOCK, NULL);
}

/* A block that ran out of items says nothing about the time of a full one. */
static void block_adapt(fi_node *node)
{
    if (node->block_ns < BLOCK_NS_MIN && node->block_is_full && node->block_max < BLOCK_ITEMS_MAX)
        node->block_max *= 2;
    else if (node->block_ns > BLOCK_NS_MAX && node->block_max > 1)
        node->block_max /= 2;
}

static bool can_split(const fi_node *node)
{
    int64_t floor = LOOT_NS_MIN / node->item_ns;

    floor = floor < FLOOR_MIN ? FLOOR_MIN : floor > FLOOR_MAX ? FLOOR_MAX : floor;
    return node->bag.n >= (size_t)floor;
}

/* Returns true if there is a new loot. */
static bool loot_make(fi_node *node)
{
    size_t max = node->world->set->loot_bytes / sizeof(fi_item), n = node->bag.n / 2;
    fi_packet *p;

    if (node->wanted <= node->outbox.n || node->outbox.n == FI_SIM_OUTBOX_MAX || !can_split(node))
        return false;
    p = fi_packet_new((n < max ? n : max) * sizeof(fi_item));
    if (!p)
        return false; /* the loot stays here */
    fi_bag_split(&node->bag, (fi_item *)(void *)p->body, max);
    fi_packets_push(&node->outbox, p);
    return true;
}

static void bag_merge(fi_node *node, fi_packet *p)
{
    if (!fi_bag_append(&node->bag, (const fi_item *)(const void *)p->body, fi_loot_items(p)))
        fi_world_error(node->world, "no memory for the items of rank %u", node->number);
    fi_packet_free(p);
}

/* Returns true if the lane has more work. */
static bool lane_continue(fi_node *node)
{
    if (node->bag.n == 0 && node->shelf.n > 0)
        bag_merge(node, fi_packets_pop(&node->shelf));
    if (node->bag.n == 0)
        return false;
    fi_lane_start(node);
    return true;
}

void fi_lane_end_block(fi_node *node)
{
    bool has_news;

    node->is_running = false;
    node->world->ledger.running--;
    block_adapt(node);
    if (node->block_has_result) {
        node->handler_result = 1 + (int)node->number;
        has_news = true;
    } else {
        has_news = loot_make(node);
        has_news |= !lane_continue(node);
    }
    if (has_news)
        fi_thread_ring(node);
}

void fi_lane_open(fi_node *node, fi_packet *p)
{
    if (node->is_running || node->bag.n > 0) {
        fi_packets_push(&node->shelf, p);
        return;
    }
    bag_merge(node, p);
    fi_lane_start(node);
}

static void loots_drop(fi_node *node, fi_packets *list)
{
    fi_packet *p;

    while ((p = fi_packets_pop(list)) != NULL) {
        node->world->ledger.items -= fi_loot_items(p);
        fi_packet_free(p);
    }
}

void fi_lane_drop(fi_node *node)
{
    node->world->ledger.items -= node->bag.n;
    fi_bag_clear(&node->bag);
    loots_drop(node, &node->shelf);
    loots_drop(node, &node->outbox);
}
