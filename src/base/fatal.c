#include "base/fatal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* One write for the whole line, so that output of other threads cannot split it. */
_Noreturn void fi_fatal(const char *format, ...)
{
    char line[512];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "filch: %s\n", line);
    abort();
}
