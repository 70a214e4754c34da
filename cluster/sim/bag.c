#include "sim/bag.h"

#include <stdlib.h>
#include <string.h>

enum { CAPACITY_MIN = 64 };

/* Make space for n more items at the new end. */
static bool bag_reserve(fi_bag *bag, size_t n)
{
    size_t capacity = bag->capacity ? bag->capacity : CAPACITY_MIN;
    fi_item *items;

    if (bag->first + bag->n + n <= bag->capacity)
        return true;
    if (bag->n > 0)
        memmove(bag->items, bag->items + bag->first, bag->n * sizeof *items);
    bag->first = 0;
    while (capacity < 2 * (bag->n + n))
        capacity *= 2;
    if (capacity == bag->capacity)
        return true;
    items = realloc(bag->items, capacity * sizeof *items);
    if (!items)
        return false;
    bag->items = items;
    bag->capacity = capacity;
    return true;
}

bool fi_bag_push(fi_bag *bag, fi_item item)
{
    return fi_bag_append(bag, &item, 1);
}

bool fi_bag_append(fi_bag *bag, const fi_item *items, size_t n)
{
    if (!bag_reserve(bag, n))
        return false;
    memcpy(bag->items + bag->first + bag->n, items, n * sizeof *items);
    bag->n += n;
    return true;
}

/* Replace the newest item by its children. */
static bool bag_expand(fi_bag *bag, const fi_tree *tree)
{
    fi_item item = bag->items[bag->first + bag->n - 1], *to;
    unsigned n = fi_tree_n_children_of(tree, item);

    if (!bag_reserve(bag, n))
        return false;
    to = bag->items + bag->first + --bag->n;
    for (unsigned i = 0; i < n; i++)
        to[i] = fi_tree_child(item, i);
    bag->n += n;
    return true;
}

unsigned fi_bag_process(fi_bag *bag, const fi_tree *tree, unsigned max, uint64_t stop_every,
                        fi_tree_sum *sum)
{
    unsigned n = 0;

    while (n < max && bag->n > 0) {
        uint64_t state = bag->items[bag->first + bag->n - 1].state;

        if (!bag_expand(bag, tree))
            return 0;
        n++;
        sum->count++;
        sum->hash += state;
        bag->last = state;
        if (stop_every != 0 && state % stop_every == 0)
            break;
    }
    return n;
}

/* The items that stay move to the new end by one place for each item that is taken. */
size_t fi_bag_split(fi_bag *bag, fi_item *to, size_t max)
{
    fi_item *items = bag->items + bag->first;
    size_t taken = bag->n / 2 < max ? bag->n / 2 : max;

    for (size_t i = 0; i < taken; i++)
        to[i] = items[2 * i];
    for (size_t i = taken; i-- > 0;)
        items[taken + i] = items[2 * i + 1];
    bag->first += taken;
    bag->n -= taken;
    return taken;
}

void fi_bag_clear(fi_bag *bag)
{
    bag->first = bag->n = 0;
}

void fi_bag_free(fi_bag *bag)
{
    free(bag->items);
    *bag = (fi_bag){0};
}
