/* Pictures by gnuplot, which is another program and may be missing. */
#ifndef CLI_GNUPLOT_H
#define CLI_GNUPLOT_H

#include <stdio.h>

/* Can such a file be written?  NULL, or why not. */
const char *gnuplot_refuses(const char *file);

/* The first lines of a script: where the picture goes, which ends in .svg or .png, and how large it is. */
void gnuplot_begin(FILE *out, const char *file, int width, int height);

/* NULL, or why there is no picture. */
const char *gnuplot_draw(const char *script);

#endif
