/* Sort operations on numbers of 4 bytes. */
#define SIZE            4
#define WORD            uint32_t
#define KEY             int32_t
#define LESS(cmp, a, b) is_less((cmp), (a), (b))
#include "algo/radix.inc"

const fi_sort_ops fi_sort_ops_number_4 = SORT_OPS_BY_DIGITS;
