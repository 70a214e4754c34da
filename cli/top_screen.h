/* Lines and numbers of `filch top`. */
#ifndef CLI_TOP_SCREEN_H
#define CLI_TOP_SCREEN_H

#include <stdint.h>
#include <stdio.h>

/* What fits on the screen. */
typedef struct screen {
    FILE *out;
    int width, height; /* height 0: no limit */
    int lines;         /* printed */
} screen;

/* Print a line, if it fits.  The text may come from another process. */
void screen_line(screen *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

double per_second(uint64_t before, uint64_t now, double seconds);

/* In five letters.  Returns text. */
const char *format_count(double n, char text[8]);
const char *format_duration(int64_t ns, char text[16]);

#endif
