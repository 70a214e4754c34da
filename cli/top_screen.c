/* Format lines and numbers, for top_print.c and ranks_print.c. */
#include "top_screen.h"

#include "safe_text.h"

#include <stdarg.h>

void screen_line(screen *s, const char *format, ...)
{
    char text[512];
    va_list args;
    if (s->height > 0 && s->lines >= s->height)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (s->lines++ > 0)
        fputc('\n', s->out);
    print_safe_text(s->out, text, s->width);
}

double per_second(uint64_t before, uint64_t now, double seconds)
{
    return seconds > 0 && now >= before ? (double)(now - before) / seconds : 0;
}

const char *format_count(double n, char text[8])
{
    static const char units[] = "kMGTPE";
    unsigned unit = 0;
    if (n < 9999.5) {
        snprintf(text, 8, "%.0f", n);
        return text;
    }
    for (n *= 1e-3; n >= 999.5 && unit + 2 < sizeof units; unit++)
        n *= 1e-3;
    snprintf(text, 8, unit == 0 || n >= 99.95 ? "%.0f%c" : "%.1f%c", n, units[unit]);
    return text;
}

const char *format_duration(int64_t ns, char text[16])
{
    double s = (double)ns * 1e-9;
    if (s < 1)
        snprintf(text, 16, "%.0f ms", s * 1e3);
    else if (s < 120)
        snprintf(text, 16, "%.1f s", s);
    else if (s < 7200)
        snprintf(text, 16, "%.0f min", s / 60);
    else
        snprintf(text, 16, "%.1f h", s / 3600);
    return text;
}
