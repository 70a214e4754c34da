/* Numbers of 8 bytes. */
#define SIZE          8
#define WORD          uint64_t
#define KEY           int64_t
#define LESS(o, a, b) is_less((o), (a), (b))
#include "algo/element_of.h"
#include "algo/key_of.h"
#include "algo/merge_of.h"
#include "algo/quick_of.h"
#include "algo/radix_of.h"
#include "algo/runs_of.h"

const fi_kind fi_kind_number_8 = KIND_BY_DIGITS;
