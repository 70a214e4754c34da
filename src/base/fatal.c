#include "base/fatal.h"

#include "base/message.h"

#include <stdlib.h>

_Noreturn void fi_fatal(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fi_message_va(FILCH_LEVEL_FATAL, format, args);
    va_end(args);
    abort();
}
