/* Sort operations on pointers to elements of any size. */
#define SIZE            sizeof(void *)
#define LESS(cmp, a, b) ((cmp)->compare(pointer_in(a), pointer_in(b), (cmp)->ctx) < 0)
#include "algo/element.inc"

static inline const void *pointer_in(const element *e)
{
    const void *p;

    memcpy(&p, e, sizeof p);
    return p;
}

#include "algo/sample.inc"

const fi_sort_ops fi_sort_ops_pointer = SORT_OPS_BY_SAMPLES;
