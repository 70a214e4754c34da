/* Sort operations on elements of 8 bytes. */
#define SIZE            8
#define LESS(cmp, a, b) ((cmp)->compare((a), (b), (cmp)->ctx) < 0)
#include "algo/sample.inc"

const fi_sort_ops fi_sort_ops_8 = SORT_OPS_BY_SAMPLES;
