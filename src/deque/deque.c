/* Creates deques of each kind, and finds a kind by its name. */
#include "deque/deque.h"

#include <string.h>

const fi_deque_ops *const fi_deque_kinds[] = {
    &fi_deque_locked, &fi_deque_bounded, &fi_deque_batch, &fi_deque_half, NULL,
};

const fi_deque_ops *fi_deque_kind_named(const char *name)
{
    for (const fi_deque_ops *const *k = fi_deque_kinds; *k; k++)
        if (strcmp((*k)->name, name) == 0)
            return *k;
    return NULL;
}

static bool valid_capacity(uint32_t n)
{
    return n > 0 && n <= FI_DEQUE_MAX_CAPACITY && (n & (n - 1)) == 0;
}

int fi_deque_new(const fi_deque_ops *kind, const fi_deque_config *config, fi_deque **out)
{
    fi_deque_config c = *config;
    if (c.capacity == 0)
        c.capacity = FI_DEQUE_DEFAULT_CAPACITY;
    if (!valid_capacity(c.capacity) || c.batch > FI_DEQUE_MAX_BATCH)
        return -EINVAL;
    return kind->create(&c, out);
}

void fi_deque_free(fi_deque *d)
{
    if (d)
        d->ops->destroy(d);
}
