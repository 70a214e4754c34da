/* Show progress on standard error, for runner.c. */
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 24, EVERY = 15, USUAL_COLUMNS = 80 };

void progress_text(double seconds, char *out, int capacity)
{
    long s = (long)(seconds + 0.5);
    if (seconds < 0)
        snprintf(out, (size_t)capacity, "time left not known yet");
    else if (s < 60)
        snprintf(out, (size_t)capacity, "about %ld s left", s);
    else if (s < 3600)
        snprintf(out, (size_t)capacity, "about %ld min %ld s left", s / 60, s % 60);
    else
        snprintf(out, (size_t)capacity, "about %ld h %ld min left", s / 3600, s / 60 % 60);
}

static int terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return USUAL_COLUMNS;
}

/* One column stays free, because some terminals wrap after the last one. */
static void redraw_line(int done, int all, const char *left, const char *what)
{
    char bar[BAR + 1], line[512];
    for (int i = 0; i < BAR; i++)
        bar[i] = (long)i * all < (long)done * BAR ? '#' : '.';
    bar[BAR] = '\0';
    snprintf(line, sizeof line, "[%s] %3d %%  %s  %s", bar, all > 0 ? done * 100 / all : 100, left,
             what);
    fprintf(stderr, "\r%.*s\033[K", terminal_columns() - 1, line);
}

static bool is_line_due(void)
{
    static struct timespec last;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (last.tv_sec != 0 && now.tv_sec - last.tv_sec < EVERY)
        return false;
    last = now;
    return true;
}

void progress_show(int done, int all, double seconds, const char *what)
{
    char left[64];
    progress_text(seconds, left, sizeof left);
    if (isatty(STDERR_FILENO))
        redraw_line(done, all, left, what);
    else if (is_line_due())
        fprintf(stderr, "filch: %d of %d calls, %s: %s\n", done, all, left, what);
}

void progress_clear(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}
