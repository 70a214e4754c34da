/* filch run, filch trace: run a program that uses Filch, with settings in its environment. */
#define _GNU_SOURCE
#include "args.h"
#include "command.h"
#include "passthrough.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS_MAX = 1024 };

static void run_help(void)
{
    printf("usage: filch run [OPTION...] [--] PROGRAM [ARGUMENT...]\n\n"
           "Runs a program that uses Filch, with these settings.  The program replaces filch: it\n"
           "has the same process id, and its exit status is that of filch.\n\n"
           "  -w, --workers N       number of workers, 1 to %d (FILCH_WORKERS)\n"
           "      --stats           print the counters of the workers at the end (FILCH_STATS)\n"
           "      --trace FILE      write a trace for ui.perfetto.dev to FILE (FILCH_TRACE)\n"
           "  -h, --help            print this text\n"
           "  -V, --version         print the version\n\n"
           "A setting that the program makes itself in filch_start takes precedence.\n"
           "filch(7) lists all variables.\n"
           "--stats: spawned and run_inline are 0 in a program that is compiled with optimisation\n"
           "and without FILCH_COUNT_SPAWNS.\n",
           WORKERS_MAX);
}

static void trace_help(void)
{
    printf("usage: filch trace [OPTION...] [--] PROGRAM [ARGUMENT...]\n\n"
           "Runs a program that uses Filch, and writes a trace of its workers and fibers.  Says\n"
           "at the end where the trace is and how to open it.\n\n"
           "  -o, --output FILE     the file of the trace (trace.json)\n"
           "  -w, --workers N       number of workers, 1 to %d\n"
           "  -h, --help            print this text\n"
           "  -V, --version         print the version\n",
           WORKERS_MAX);
}

/* ---- the name of a trace: %p stands for the process ID, %% for a percent sign ---- */

enum { PATTERN_MAX = 3 * PATH_MAX };

/* The program may change its directory before it starts the runtime. */
static const char *absolute_pattern(const char *file)
{
    static char pattern[PATTERN_MAX];
    char directory[PATH_MAX];
    size_t n = 0;
    if (strlen(file) >= PATH_MAX)
        usage_error("%s: the path is too long", file);
    if (file[0] == '/')
        return file;
    if (!getcwd(directory, sizeof directory))
        usage_error("%s: cannot find the working directory: %s", file, strerror(errno));
    for (const char *c = directory; *c; c++) {
        pattern[n++] = *c;
        if (*c == '%')
            pattern[n++] = '%';
    }
    snprintf(pattern + n, sizeof pattern - n, "%s%s", n > 1 ? "/" : "", file);
    return pattern;
}

static void expand_pattern(const char *pattern, pid_t pid, char *path, size_t size)
{
    size_t n = 0;
    for (const char *c = pattern; *c && n + 1 < size; c++) {
        if (c[0] == '%' && c[1] == 'p') {
            n += (size_t)snprintf(path + n, size - n, "%d", (int)pid);
            c++;
        } else {
            c += c[0] == '%' && c[1] == '%';
            path[n++] = *c;
        }
    }
    path[n < size ? n : size - 1] = '\0';
}

static bool has_pid(const char *pattern)
{
    for (const char *c = pattern; *c; c++) {
        if (c[0] == '%' && c[1] == 'p')
            return true;
        c += c[0] == '%' && c[1] == '%';
    }
    return false;
}

/* A directory whose name contains the process ID may be made by the program. */
static void check_pattern(const char *pattern, const char *file, const char *option)
{
    char path[PATTERN_MAX], directory[PATTERN_MAX];
    struct stat s;
    snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(pattern, '/') - pattern + 1),
             pattern);
    expand_pattern(pattern, 0, path, sizeof path);
    if (path[strlen(path) - 1] == '/' || (stat(path, &s) == 0 && S_ISDIR(s.st_mode)))
        usage_error("%s: %s is a directory; give the name of a file", option, file);
    if (has_pid(directory))
        return;
    expand_pattern(directory, 0, path, sizeof path);
    if (stat(path, &s) != 0)
        usage_error("%s: cannot find the directory of %s: %s", option, file, strerror(errno));
    if (!S_ISDIR(s.st_mode))
        usage_error("%s: %s is not in a directory", option, file);
}

static void set_workers(const char *word)
{
    number_arg(word, "--workers", 1, WORKERS_MAX);
    set_variable("FILCH_WORKERS", word);
}

/* Returns the absolute pattern of its name. */
static const char *set_trace(const char *file, const char *option)
{
    if (file[0] == '\0')
        usage_error("%s takes the name of a file (got '')", option);
    const char *pattern = absolute_pattern(file);
    check_pattern(pattern, file, option);
    set_variable("FILCH_TRACE", pattern);
    return pattern;
}

/* ---- filch run ---- */

static void run_take_option(int letter)
{
    switch (letter) {
    case 'w':
        set_workers(optarg);
        break;
    case 's':
        set_variable("FILCH_STATS", "1");
        break;
    case 't':
        set_trace(optarg, "--trace");
        break;
    }
}

int command_run(int argc, char **argv)
{
    static const struct option known[] = {
        {"workers", required_argument, NULL, 'w'},
        {"stats", no_argument, NULL, 's'},
        {"trace", required_argument, NULL, 't'},
        COMMON_OPTIONS,
    };
    for (int letter; (letter = next_option(argc, argv, "+:w:hV", known, run_help)) != -1;)
        run_take_option(letter);
    if (optind == argc)
        usage_error("run needs a program: filch run -- PROGRAM ARGUMENTS");
    return passthrough_exec(argv + optind);
}

/* ---- filch trace ---- */

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* A FIFO, a device, or an open descriptor of the program. */
static bool is_special(const char *path)
{
    struct stat s;
    return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0 ||
           (stat(path, &s) == 0 && !S_ISREG(s.st_mode));
}

/* A file whose name contains the process ID has no earlier state that can be compared. */
static bool is_since(const struct stat *s, const struct timespec *start)
{
    return s->st_ctim.tv_sec > start->tv_sec ||
           (s->st_ctim.tv_sec == start->tv_sec && s->st_ctim.tv_nsec >= start->tv_nsec);
}

typedef struct trace_target {
    const char *pattern;
    struct stat before; /* if the name does not contain the process ID */
    struct timespec start;
} trace_target;

static void report_missing(const trace_target *t, const char *program)
{
    fprintf(stderr,
            "filch: %s wrote no trace: it does not use Filch, ended without a stop of the "
            "runtime, or is set-uid, and ignores the variable%s\n",
            program, has_pid(t->pattern) ? "; a child process uses its own ID for %p" : "");
}

static int report_trace(const trace_target *t, const char *name, pid_t pid, const char *program,
                        int ended)
{
    char path[PATTERN_MAX], shown[PATTERN_MAX];
    struct stat now;
    expand_pattern(t->pattern, pid, path, sizeof path);
    expand_pattern(name, pid, shown, sizeof shown);
    if (ended == PASSTHROUGH_NOT_FOUND || ended == PASSTHROUGH_NOT_RUNNABLE)
        return ended;
    if (is_special(path)) {
        fprintf(stderr, "filch: %s is not a regular file: cannot check that it got a trace\n",
                shown);
        return ended;
    }
    bool is_new = stat(path, &now) == 0 && (has_pid(t->pattern) ? is_since(&now, &t->start)
                                                                : !is_same_file(&t->before, &now));
    if (is_new) {
        fprintf(stderr, "filch: wrote %s (%lld bytes); open it in https://ui.perfetto.dev\n", shown,
                (long long)now.st_size);
        return ended;
    }
    report_missing(t, program);
    return ended != 0 ? ended : EXIT_FAILED;
}

int command_trace(int argc, char **argv)
{
    static const struct option known[] = {
        {"output", required_argument, NULL, 'o'},
        {"workers", required_argument, NULL, 'w'},
        COMMON_OPTIONS,
    };
    const char *file = "trace.json";
    for (int letter; (letter = next_option(argc, argv, "+:o:w:hV", known, trace_help)) != -1;) {
        if (letter == 'o')
            file = optarg;
        else
            set_workers(optarg);
    }
    if (optind == argc)
        usage_error("trace needs a program: filch trace -- PROGRAM ARGUMENTS");
    trace_target t = {.pattern = set_trace(file, "--output")};
    char path[PATTERN_MAX];
    pid_t pid = 0;
    expand_pattern(t.pattern, 0, path, sizeof path);
    stat(path, &t.before);
    clock_gettime(CLOCK_REALTIME_COARSE, &t.start); /* the clock of files */
    int ended = passthrough_run(argv + optind, &pid);
    return report_trace(&t, file, pid, argv[optind], ended);
}
