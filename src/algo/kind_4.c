/* Elements of 4 bytes. */
#define SIZE          4
#define LESS(o, a, b) ((o)->compare((a), (b), (o)->ctx) < 0)
#include "algo/element_of.h"
#include "algo/merge_of.h"
#include "algo/quick_of.h"
#include "algo/runs_of.h"
#include "algo/sample_of.h"

const fi_kind fi_kind_4 = KIND_BY_SAMPLES;
