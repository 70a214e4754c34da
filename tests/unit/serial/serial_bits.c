/* A serial build computes the same reductions and scans as the library, to the last bit. */
#include "bits.h"
#include "unit/task/helpers.h"

static void same_bits(void)
{
    static const size_t grains[] = {0, 1, 7, 1000, SIZE_MAX};

    for (size_t n = 1; n <= BITS_N_MAX; n = n * 5 / 2 + 1)
        for (size_t i = 0; i < sizeof grains / sizeof *grains; i++)
            CHECK(bits_of_headers(n, grains[i]) == bits_of_library(n, grains[i]));
}

static void same_bits_each(void **state)
{
    (void)state;
    workers_each(NULL, same_bits);
}

CHECK_MAIN(same_bits_each)
