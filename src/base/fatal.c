#include "base/fatal.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void fi_fatal(const char *what)
{
    fprintf(stderr, "filch: %s\n", what);
    abort();
}

_Noreturn void fi_mistake_in(const char *function, const char *what)
{
    fprintf(stderr, "filch: %s: %s\n", function, what);
    abort();
}
