/* A loop on OpenMP: each thread runs one contiguous part. */
#include "parts/algo/loops.h"

#include <omp.h>

void algo_loop_omp(size_t n, int threads, algo_body *body)
{
#pragma omp parallel num_threads(threads)
    {
        size_t thread = (size_t)omp_get_thread_num(), n_threads = (size_t)omp_get_num_threads();

        body(n * thread / n_threads, n * (thread + 1) / n_threads, NULL);
    }
}
