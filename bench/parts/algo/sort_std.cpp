#include "parts/algo/sort.h"

#include <algorithm>

void algo_sort_std(int *v, size_t n)
{
    std::sort(v, v + n);
}
