/* The hash table of fibers and threads, for trace_json.c. */
#include "observe/trace_entities.h"

#include "observe/vm.h"

#define CAPACITY_MIN 1024u

static size_t entities_size(const fi_trace_entities *c)
{
    return c->capacity * sizeof *c->table;
}

/* The entity's slot, or an empty slot for it. */
static fi_trace_entity *entities_find(const fi_trace_entities *c, uint64_t id)
{
    size_t at = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32);

    for (;; at++) {
        fi_trace_entity *entity = &c->table[at & (c->capacity - 1)];
        if (entity->id == id || entity->id == 0)
            return entity;
    }
}

static bool entities_grow(fi_trace_entities *c)
{
    fi_trace_entities more = {.capacity = c->capacity > 0 ? 2 * c->capacity : CAPACITY_MIN,
                              .n = c->n};

    more.table = fi_vm_map(entities_size(&more));
    if (!more.table)
        return false;
    for (size_t i = 0; i < c->capacity; i++)
        if (c->table[i].id)
            *entities_find(&more, c->table[i].id) = c->table[i];
    fi_trace_entities_free(c);
    *c = more;
    return true;
}

fi_trace_entity *fi_trace_entities_get(fi_trace_entities *c, uint64_t id)
{
    fi_trace_entity *entity;

    if (2 * c->n >= c->capacity && !entities_grow(c))
        return NULL;
    entity = entities_find(c, id);
    if (entity->id == 0) {
        *entity = (fi_trace_entity){.id = id};
        c->n++;
    }
    return entity;
}

void fi_trace_entities_free(fi_trace_entities *c)
{
    fi_vm_unmap(c->table, entities_size(c));
    c->table = NULL;
}
