/* Checks of arguments.  Each returns 0, or -EINVAL after a message that names the public function
 * and its argument. */
#ifndef FI_ALGO_CHECK_H
#define FI_ALGO_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* is_given: whether the argument, a function, is not NULL. */
int fi_check_function(const char *function, const char *argument, bool is_given);

/* n elements of this size may exist at base. */
int fi_check_range(const char *function, const char *argument, const void *base, size_t n,
                   size_t size);

/* The values of a reduction or a scan. */
int fi_check_values(const char *function, const void *result, const void *identity, size_t size);

#endif
