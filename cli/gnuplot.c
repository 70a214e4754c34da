/* Find and run gnuplot, and write the common lines of its scripts. */
#define _GNU_SOURCE
#include "gnuplot.h"

#include "child.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GNUPLOT_SECONDS = 60 };

const char *const gnuplot_colours[GNUPLOT_COLOURS] = {"#0b7285", "#c2410c", "#5f3dc4",
                                                      "#6a737d", "#8a6100", "#2b8a3e"};

static const int filled_shapes[GNUPLOT_COLOURS] = {7, 5, 9, 13, 11, 15};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

/* Find the program in PATH. */
static bool find_program(const char *name, char *out, size_t size)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        snprintf(out, size, "%.*s/%s", (int)length, path, name);
        if (length > 0 && access(out, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

const char *gnuplot_missing(void)
{
    char path[PATH_MAX];
    if (find_program("gnuplot", path, sizeof path))
        return NULL;
    return "gnuplot is not installed (Debian: gnuplot-nox)";
}

const char *gnuplot_check_file(const char *file)
{
    if (!ends_with(file, ".svg") && !ends_with(file, ".png"))
        return "the name of the plot must end in .svg or .png";
    if (strpbrk(file, "'\n"))
        return "the name of the plot contains a quote or a line break";
    return gnuplot_missing();
}

void gnuplot_string(FILE *script, const char *text)
{
    fputc('\'', script);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputc('\'', script);
        fputc(*text == '\n' ? ' ' : *text, script);
    }
    fputc('\'', script);
}

void gnuplot_begin(FILE *script, const char *file, int width, int height)
{
    const char *terminal = file && ends_with(file, ".png") ? "pngcairo" : "svg";
    fprintf(script, "set terminal %s noenhanced size %d,%d font 'sans-serif,%d'%s\n", terminal,
            width, height, file ? 12 : 13, file ? " background '#ffffff'" : "");
    if (file)
        fprintf(script, "set output '%s'\n", file);
    fprintf(script, "set border 3 lc rgb '" GNUPLOT_QUIET "'\n"
                    "set tics nomirror textcolor rgb '" GNUPLOT_QUIET "'\n"
                    "set grid lt 1 dt solid lw 1 lc rgb '" GNUPLOT_LINE "'\n"
                    "set key textcolor rgb '" GNUPLOT_INK "'\n");
    for (int i = 0; i < GNUPLOT_COLOURS; i++)
        fprintf(script, "set linetype %d lc rgb '%s' pt %d\n", i + 1, gnuplot_colours[i],
                filled_shapes[i]);
}

const char *gnuplot_run(const char *script, const char **output)
{
    static child c;
    char gnuplot[PATH_MAX];
    if (!find_program("gnuplot", gnuplot, sizeof gnuplot))
        return gnuplot_missing();
    char no_init_files[] = "-d";
    char *argv[] = {gnuplot, no_init_files, NULL};
    int e = child_run(&c, argv, script, GNUPLOT_SECONDS);
    if (e < 0)
        return strerror(-e);
    if (output)
        *output = c.output;
    if (c.code == 0 && !c.is_truncated)
        return NULL;
    return c.errors[0] != '\0' ? c.errors : "gnuplot failed";
}

const char *gnuplot_draw(gnuplot_writer *write_script, const void *plot, const char *file)
{
    char *script = NULL;
    size_t length;
    FILE *out = open_memstream(&script, &length);
    if (!out)
        return strerror(errno);
    write_script(out, plot, file);
    const char *why = fclose(out) == 0 ? gnuplot_run(script, NULL) : strerror(errno);
    free(script);
    return why;
}
