/* Numbers of 4 bytes. */
#define SIZE          4
#define WORD          uint32_t
#define KEY           int32_t
#define LESS(o, a, b) is_less((o), (a), (b))
#include "algo/element_of.h"
#include "algo/key_of.h"
#include "algo/merge_of.h"
#include "algo/quick_of.h"
#include "algo/radix_of.h"
#include "algo/runs_of.h"

const fi_kind fi_kind_number_4 = KIND_BY_DIGITS;
