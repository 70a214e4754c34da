#include "parts/algo/loops.h"

#include <omp.h>

void algo_loop_omp(size_t n, int threads)
{
#pragma omp parallel num_threads(threads)
    {
        size_t me = (size_t)omp_get_thread_num(), all = (size_t)omp_get_num_threads();

        algo_loop_body(n * me / all, n * (me + 1) / all, NULL);
    }
}
