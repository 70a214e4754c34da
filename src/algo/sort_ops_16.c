/* Sort operations on elements of 16 bytes. */
#define SIZE            16
#define LESS(cmp, a, b) ((cmp)->compare((a), (b), (cmp)->ctx) < 0)
#include "algo/sample.inc"

const fi_sort_ops fi_sort_ops_16 = SORT_OPS_BY_SAMPLES;
