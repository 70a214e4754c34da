/* Without memory for a copy, the sort of a serial build is still right and stable. */
#include "check.h"

#include <stdbool.h>

static bool has_memory;

static void *limited_malloc(size_t size)
{
    return has_memory ? malloc(size) : NULL;
}

#define malloc(size) limited_malloc(size)
#include <filch/algo.h>
#undef malloc

#define N_MAX 3000

typedef struct element {
    unsigned key, index;
} element;

static int compare_keys(const void *a, const void *b, void *ctx)
{
    unsigned x = ((const element *)a)->key, y = ((const element *)b)->key;

    (void)ctx;
    return (x > y) - (x < y);
}

static void check_sort(unsigned n, unsigned keys)
{
    static element v[N_MAX];
    unsigned long random = 1;

    for (unsigned i = 0; i < n; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        v[i] = (element){(unsigned)(random >> 33) % keys, i};
    }
    CHECK_INT(filch_sort_stable(v, n, sizeof *v, compare_keys, NULL), 0);
    for (unsigned i = 1; i < n; i++)
        CHECK(v[i - 1].key < v[i].key || (v[i - 1].key == v[i].key && v[i - 1].index < v[i].index));
}

static void sorts(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        has_memory = i;
        for (unsigned n = 0; n < N_MAX; n += n < 20 ? 1 : n)
            for (unsigned keys = 1; keys < 10000; keys *= 7)
                check_sort(n, keys);
    }
}

CHECK_MAIN(sorts)
