#include "algo/check.h"

#include "base/message.h"

#include <filch/algo.h>

#include <stdint.h>

int fi_check_function(const char *function, const char *argument, bool is_given)
{
    return is_given ? 0 : fi_message_null(function, argument, "a function");
}

int fi_check_range(const char *function, const char *argument, const void *base, size_t n,
                   size_t size)
{
    if (size == 0)
        return fi_message_invalid("%s: size: is 0; use the size of an element", function);
    if (!base && n > 0)
        return fi_message_null(function, argument, "the elements");
    if (n > PTRDIFF_MAX / size)
        return fi_message_invalid("%s: too many elements (%zu of %zu bytes); an object has at most "
                                  "%zu bytes",
                                  function, n, size, (size_t)PTRDIFF_MAX);
    return 0;
}

int fi_check_values(const char *function, const void *result, const void *identity, size_t size)
{
    if (size > FILCH_REDUCE_MAX)
        return fi_message_invalid("%s: size: too large (%zu); use up to %d, or a pointer", function,
                                  size, FILCH_REDUCE_MAX);
    if (!result && size > 0)
        return fi_message_null(function, "result", "the value to append to");
    if (!identity && size > 0)
        return fi_message_null(function, "identity", "the value of an empty range");
    return 0;
}
