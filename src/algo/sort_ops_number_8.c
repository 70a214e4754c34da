/* Sort operations on numbers of 8 bytes. */
#define SIZE            8
#define WORD            uint64_t
#define KEY             int64_t
#define LESS(cmp, a, b) is_less((cmp), (a), (b))
#include "algo/radix.inc"

const fi_sort_ops fi_sort_ops_number_8 = SORT_OPS_BY_DIGITS;
