/* Orders that are known without asking the function. */
#ifndef FI_ALGO_COMPARE_H
#define FI_ALGO_COMPARE_H

#include "algo/kind.h"

/* The kind of elements that o->compare is known to order, and how (fold and flip); else NULL. */
const fi_kind *fi_kind_of_numbers(fi_order *o);

#endif
