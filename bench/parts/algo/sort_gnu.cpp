/* Built with -fopenmp. */
#include "parts/algo/sort.h"

#include <omp.h>
#include <parallel/algorithm>

void algo_sort_gnu(int *v, size_t n)
{
    omp_set_num_threads(2);
    __gnu_parallel::sort(v, v + n);
}
