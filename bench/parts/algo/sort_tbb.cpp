#include "parts/algo/sort.h"

#include <tbb/global_control.h>
#include <tbb/parallel_sort.h>

void algo_sort_tbb(int *v, size_t n)
{
    tbb::global_control two(tbb::global_control::max_allowed_parallelism, 2);

    tbb::parallel_sort(v, v + n);
}
