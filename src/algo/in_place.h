/* Sorting without any memory, for when there is none: elements of any size, moved by swaps. */
#ifndef FI_ALGO_IN_PLACE_H
#define FI_ALGO_IN_PLACE_H

#include "algo/kind.h"

/* Equal elements may change places. */
void fi_sort_in_place(const fi_order *o, void *base, size_t n);

/* They do not; this moves each element some log2(n) times more often. */
void fi_sort_stable_in_place(const fi_order *o, void *base, size_t n);

/* What both are made of. */
void fi_swap(const fi_order *o, char *base, size_t i, size_t j);
bool fi_is_less(const fi_order *o, const char *base, size_t i, size_t j);
void fi_insert_each(const fi_order *o, char *base, size_t n);

#endif
