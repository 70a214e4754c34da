#include "sim/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *fi_format_grouped(uint64_t value, char text[FI_GROUPED_SIZE])
{
    char digits[FI_GROUPED_SIZE];
    size_t n = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, value), out = 0;

    for (size_t i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            text[out++] = ',';
        text[out++] = digits[i];
    }
    text[out] = '\0';
    return text;
}

void fi_progress_show(uint64_t items, void *ctx)
{
    (void)ctx;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%.1f M items ", (double)items / 1e6);
}

void fi_progress_clear(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%24s\r", "");
}
