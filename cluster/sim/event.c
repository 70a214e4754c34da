#include "sim/event.h"

#include <stdlib.h>

enum { CAPACITY_MIN = 256, DEGREE = 4 };

static bool is_before(const fi_event *a, const fi_event *b)
{
    return a->at != b->at ? a->at < b->at : a->number < b->number;
}

static bool events_grow(fi_events *e)
{
    size_t capacity = e->capacity ? 2 * e->capacity : CAPACITY_MIN;
    fi_event *heap = realloc(e->heap, capacity * sizeof *heap);

    if (!heap)
        return false;
    e->heap = heap;
    e->capacity = capacity;
    return true;
}

bool fi_events_push(fi_events *e, fi_event event)
{
    size_t i = e->n;

    if (e->n == e->capacity && !events_grow(e))
        return false;
    event.number = e->pushes++;
    e->n++;
    while (i > 0 && is_before(&event, &e->heap[(i - 1) / DEGREE])) {
        e->heap[i] = e->heap[(i - 1) / DEGREE];
        i = (i - 1) / DEGREE;
    }
    e->heap[i] = event;
    return true;
}

static size_t first_child_of(const fi_events *e, size_t i)
{
    size_t child = i * DEGREE + 1, end = child + DEGREE < e->n ? child + DEGREE : e->n;
    size_t first = child;

    while (++child < end)
        if (is_before(&e->heap[child], &e->heap[first]))
            first = child;
    return first;
}

fi_event fi_events_pop(fi_events *e)
{
    fi_event top = e->heap[0], last = e->heap[--e->n];
    size_t i = 0;

    while (i * DEGREE + 1 < e->n) {
        size_t child = first_child_of(e, i);

        if (!is_before(&e->heap[child], &last))
            break;
        e->heap[i] = e->heap[child];
        i = child;
    }
    e->heap[i] = last;
    return top;
}

void fi_events_free(fi_events *e)
{
    for (size_t i = 0; i < e->n; i++)
        fi_packet_free(e->heap[i].packet);
    free(e->heap);
    *e = (fi_events){0};
}
