/* The plots of `filch bench`, `filch scale` and `filch lab`.  gnuplot is a separate program that
 * may not be installed. */
#ifndef CLI_GNUPLOT_H
#define CLI_GNUPLOT_H

#include <stdio.h>

enum { GNUPLOT_COLOURS = 6 };

#define GNUPLOT_INK   "#1b1f24"
#define GNUPLOT_QUIET "#57606a"
#define GNUPLOT_LINE  "#d8dee4"
extern const char *const gnuplot_colours[GNUPLOT_COLOURS];

/* NULL, or why no plot can be drawn. */
const char *gnuplot_missing(void);

/* NULL, or why no plot can be written to this file.  Its name must end in .svg or .png. */
const char *gnuplot_check_file(const char *file);

/* Write the first lines of a script: output, size in pixels and common style, with a line type
 * for each of the colours. file = NULL: SVG to standard output. */
void gnuplot_begin(FILE *script, const char *file, int width, int height);

/* Write a quoted string. */
void gnuplot_string(FILE *script, const char *text);

/* Run a script.  *output, if not NULL: what gnuplot wrote to standard output, until the next call.
 * NULL, or why it failed. */
const char *gnuplot_run(const char *script, const char **output);

/* Run the script that write_script(out, plot, file) writes.  NULL, or why it failed. */
typedef void gnuplot_writer(FILE *out, const void *plot, const char *file);
const char *gnuplot_draw(gnuplot_writer *write_script, const void *plot, const char *file);

#endif
