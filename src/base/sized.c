#include "base/sized.h"

#include "base/message.h"

#include <stdint.h>
#include <string.h>

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The offset of the first byte that is not 0, or n. */
static size_t find_nonzero(const unsigned char *bytes, size_t at, size_t n)
{
    while (at < n && bytes[at] == 0)
        at++;
    return at;
}

int fi_sized_read(const char *function, void *to, size_t to_size, const void *from,
                  size_t from_size)
{
    size_t known = from ? min_size(to_size, from_size) : 0;
    size_t unknown = from ? find_nonzero(from, known, from_size) : from_size;

    if (unknown < from_size)
        return fi_message_invalid(
            "%s: the struct has a field that this library does not know (byte "
            "%zu); use a newer libfilch or set the field to 0",
            function, unknown);
    if (known)
        memcpy(to, from, known);
    memset((char *)to + known, 0, to_size - known);
    return 0;
}

void fi_sized_write(void *to, size_t to_size, const void *from, size_t from_size)
{
    size_t known = min_size(to_size, from_size);

    memcpy(to, from, known);
    memset((char *)to + known, 0, to_size - known);
}
