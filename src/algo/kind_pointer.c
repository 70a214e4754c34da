/* Pointers to elements of any size. */
#define SIZE          sizeof(void *)
#define LESS(o, a, b) ((o)->compare(pointer_in(a), pointer_in(b), (o)->ctx) < 0)
#include "algo/element_of.h"

static inline const void *pointer_in(const element *e)
{
    const void *p;

    memcpy(&p, e, sizeof p);
    return p;
}

#include "algo/merge_of.h"
#include "algo/quick_of.h"
#include "algo/runs_of.h"
#include "algo/sample_of.h"

const fi_kind fi_kind_pointer = KIND_BY_SAMPLES;
