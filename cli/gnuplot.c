#include "gnuplot.h"

#include "child.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GNUPLOT_SECONDS = 60 };

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

/* The first such program in PATH. */
static bool find_program(const char *name, char *out, size_t room)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        snprintf(out, room, "%.*s/%s", (int)length, path, name);
        if (length > 0 && access(out, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

const char *gnuplot_refuses(const char *file)
{
    char gnuplot[PATH_MAX];
    if (!ends_with(file, ".svg") && !ends_with(file, ".png"))
        return "the name of the picture must end in .svg or .png";
    if (strpbrk(file, "'\n"))
        return "the name of the picture has a quote or a line break in it";
    if (!find_program("gnuplot", gnuplot, sizeof gnuplot))
        return "there is no gnuplot to draw the picture with (Debian: gnuplot-nox)";
    return NULL;
}

void gnuplot_begin(FILE *out, const char *file, int width, int height)
{
    const char *terminal = ends_with(file, ".svg") ? "svg" : "pngcairo";
    fprintf(out, "set terminal %s size %d,%d font 'sans,12' background '#ffffff'\n", terminal,
            width, height);
    fprintf(out, "set output '%s'\n", file);
}

const char *gnuplot_draw(const char *script)
{
    static child c;
    char gnuplot[PATH_MAX];
    if (!find_program("gnuplot", gnuplot, sizeof gnuplot))
        return "there is no gnuplot any more";
    char *argv[] = {gnuplot, NULL};
    int e = child_run(&c, argv, script, GNUPLOT_SECONDS);
    if (e < 0)
        return strerror(-e);
    if (c.code == 0)
        return NULL;
    return c.complained[0] != '\0' ? c.complained : "gnuplot failed";
}
