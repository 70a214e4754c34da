#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_SIZE 1000

static char self[128]; /* "rank 3 (host, pid 123)"; empty: there is one rank */

void fi_report_init(unsigned rank, unsigned ranks)
{
    char host[65] = "unknown host"; /* the longest name on Linux has 64 bytes */

    self[0] = '\0';
    if (ranks == 1)
        return;
    gethostname(host, sizeof host - 1);
    snprintf(self, sizeof self, "rank %u (%s, pid %d)", rank, host, (int)getpid());
}

void fi_report(filch_level level, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list args;
    int n = self[0] != '\0' ? snprintf(line, sizeof line, "%s: ", self) : 0;

    va_start(args, format);
    vsnprintf(line + n, sizeof line - (size_t)n, format, args);
    va_end(args);
    filch_message_(level, line);
}
