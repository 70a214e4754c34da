/* Messages for tests that link single files of src, without the handler of base/message.c. */
#include "base/message.h"

#include <stdio.h>

void fi_message_va(filch_level level, const char *format, va_list args)
{
    (void)level;
    fputs("filch: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void fi_message(filch_level level, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fi_message_va(level, format, args);
    va_end(args);
}
