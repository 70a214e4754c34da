/* Assertions of stress tests, which run on fibers and threads, where a test must not end. */
#ifndef TESTS_STRESS_MUST_H
#define TESTS_STRESS_MUST_H

#include <stdatomic.h>

static atomic_int failed_line; /* of the first that failed; 0: none */

#define MUST(condition)                                                                            \
    do {                                                                                           \
        int none = 0;                                                                              \
        if (!(condition))                                                                          \
            atomic_compare_exchange_strong(&failed_line, &none, __LINE__);                         \
    } while (0)

#endif
