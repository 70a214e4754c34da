/* The items of a lane: an array.  The owner works at its new end.  A loot is taken from its old
 * end. */
#ifndef FI_SIM_BAG_H
#define FI_SIM_BAG_H

#include "sim/tree.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct fi_bag {
    fi_item *items; /* the bag is items[first] to items[first + n - 1], oldest first */
    size_t first, n, capacity;
    uint64_t last; /* the state of the item that was processed last */
} fi_bag;

/* False: there is no memory. */
bool fi_bag_push(fi_bag *bag, fi_item item);
bool fi_bag_append(fi_bag *bag, const fi_item *items, size_t n);

/* Process up to max of the newest items: add each to *sum and push its children.  Stop after an
 * item whose state is a multiple of stop_every, if that is not 0.
 * Returns the number of items; 0: the bag is empty, or there is no memory. */
unsigned fi_bag_process(fi_bag *bag, const fi_tree *tree, unsigned max, uint64_t stop_every,
                        fi_tree_sum *sum);

/* Move every second item from the old end, at most max, to `to`.  Returns their number. */
size_t fi_bag_split(fi_bag *bag, fi_item *to, size_t max);

void fi_bag_clear(fi_bag *bag);
void fi_bag_free(fi_bag *bag);

#endif
