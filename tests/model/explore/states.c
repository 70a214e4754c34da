/* The set of states that were seen, as hashes in an open table. */
#include "explore/execution.h"

#include <stdlib.h>
#include <string.h>

static struct {
    uint64_t *hash;
    size_t used, size;
} seen;

void states_reset(void)
{
    if (!seen.hash) {
        seen.size = (size_t)1 << 16;
        seen.hash = calloc(seen.size, sizeof *seen.hash);
    } else {
        memset(seen.hash, 0, seen.size * sizeof *seen.hash);
    }
    seen.used = 0;
    if (!seen.hash)
        abort();
}

static bool insert(uint64_t *table, size_t size, uint64_t h)
{
    size_t i = h & (size - 1);
    while (table[i] && table[i] != h)
        i = (i + 1) & (size - 1);
    bool fresh = table[i] == 0;
    table[i] = h;
    return fresh;
}

static void grow(void)
{
    size_t size = seen.size * 4;
    uint64_t *table = calloc(size, sizeof *table);
    if (!table)
        abort();
    for (size_t i = 0; i < seen.size; i++)
        if (seen.hash[i])
            insert(table, size, seen.hash[i]);
    free(seen.hash);
    seen.hash = table;
    seen.size = size;
}

bool states_add(uint64_t h)
{
    if (seen.used * 2 > seen.size)
        grow();
    bool fresh = insert(seen.hash, seen.size, h | 1);
    seen.used += fresh;
    return fresh;
}

void states_keep(void)
{
    x_keep(&seen, sizeof seen);
}

uint64_t states_count(void)
{
    return seen.used;
}
