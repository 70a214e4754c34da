/* Memory for the check: the same addresses in every execution, none of them twice in one, so that a
 * use after a free is seen. */
#include "explore/mem.h"
#include "explore/memory.h"

#include <string.h>

enum { ARENA_BYTES = 8192, MAX_FREED = 8 };
static _Alignas(64) unsigned char arena[ARENA_BYTES];
static size_t arena_used;
static unsigned arrays;
static struct {
    const unsigned char *low, *high;
} freed[MAX_FREED];
static int frees;

static void *arena_take(size_t size)
{
    void *p = arena + arena_used;
    arena_used += (size + 63) & ~(size_t)63;
    if (arena_used > ARENA_BYTES)
        x_fail(LIMIT, "the explorer's arena is too small");
    return memset(p, 0, size);
}

void *x_alloc(size_t size)
{
    return arena_take(size);
}

/* Slots of the first array are slot[i], of the second slot'[i], and so on. */
void *x_alloc_array(size_t size, size_t n)
{
    static const char *const names[] = {"slot", "slot'", "slot''", "slot'''"};
    unsigned char *p = arena_take(size * n);
    for (size_t i = 0; i < n; i++)
        location_add(p + i * size, 0, names[arrays & 3], (int)i);
    arrays++;
    return p;
}

void x_free(const void *p, size_t size)
{
    machine_free(p, (const unsigned char *)p + size);
    if (frees < MAX_FREED) {
        freed[frees].low = p;
        freed[frees++].high = (const unsigned char *)p + size;
    }
}

bool machine_allocated(uint64_t value)
{
    uint64_t first = (uint64_t)(uintptr_t)arena;
    return value >= first && value < first + ARENA_BYTES;
}

void arena_fail_if_freed(const location *l)
{
    const unsigned char *a = l->address;
    for (int i = 0; i < frees; i++)
        if (a >= freed[i].low && a < freed[i].high)
            x_fail(FREED, "%s is used after it was freed", location_name(l));
}

void arena_reset(void)
{
    arena_used = 0;
    arrays = 0;
    frees = 0;
}

void arena_keep(void)
{
    x_keep(arena, sizeof arena);
}

void arena_copy(void (*copy)(void *p, size_t n))
{
    copy(&arena_used, sizeof arena_used);
    copy(arena, arena_used);
}

/* Fields that are not atomic are plain memory in here. */
uint64_t arena_hash(uint64_t h)
{
    return machine_mix(mix_bytes(h, arena, arena_used), (uint64_t)frees);
}
