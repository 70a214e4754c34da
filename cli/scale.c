/* filch scale: work, span and predicted speed-up of a program. */
#define _GNU_SOURCE
#include "scale.h"

#include "args.h"
#include "command.h"
#include "gnuplot.h"
#include "passthrough.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS_MAX = 1024, REPEATS_MAX = 1000, RUNS_MAX = 64, LINE = 1024 };

typedef struct scale_options {
    unsigned workers[RUNS_MAX]; /* ascending from 1, terminated by 0 */
    bool measure;
    int repeat; /* 0: default */
    const char *csv, *plot;
} scale_options;

static void scale_help(void)
{
    printf("usage: filch scale [OPTION...] [--] PROGRAM [ARGUMENT...]\n\n"
           "Runs a program that uses Filch on one worker and records which work depends on which.\n"
           "Prints its work, its span (the longest chain of dependent work), its parallelism "
           "(work / span),\n"
           "its burdened parallelism (with a cost for each piece of work that can be stolen), and "
           "the\n"
           "speed-up that follows from them.  The program needs no special build.\n\n"
           "      --workers LIST    numbers of workers to predict for (1, 2, 4, ... 64)\n"
           "      --measure         also run the unmodified program with these numbers of workers\n"
           "      --repeat N        runs, 1 to %d.  Recorded runs (1) count with their shortest "
           "times,\n"
           "                        measured runs (3) with their median\n"
           "      --burden NS       cost of a steal in nanoseconds (3000)\n"
           "      --csv FILE        write the numbers to FILE\n"
           "      --plot FILE       write a plot of the speed-up to FILE, .svg or .png (needs "
           "gnuplot)\n"
           "  -h, --help            print this text\n"
           "  -V, --version         print the version\n",
           REPEATS_MAX);
}

/* ---- arguments ---- */

static void take_workers(scale_options *o, char *list)
{
    int n = 0;
    o->workers[n++] = 1;
    for (char *rest = list, *word; (word = strsep(&rest, ",")) != NULL;) {
        unsigned workers = (unsigned)number_arg(word, "--workers", 1, WORKERS_MAX);
        if (workers == o->workers[n - 1])
            continue;
        if (workers < o->workers[n - 1])
            usage_error("--workers takes ascending numbers (got %u after %u)", workers,
                        o->workers[n - 1]);
        if (n == RUNS_MAX - 1)
            usage_error("--workers takes at most %d numbers", RUNS_MAX - 1);
        o->workers[n++] = workers;
    }
    o->workers[n] = 0;
}

static void scale_take_option(scale_options *o, int letter)
{
    switch (letter) {
    case 'w':
        take_workers(o, optarg);
        break;
    case 'm':
        o->measure = true;
        break;
    case 'r':
        o->repeat = (int)number_arg(optarg, "--repeat", 1, REPEATS_MAX);
        break;
    case 'b':
        number_arg(optarg, "--burden", 0, 1000000000);
        set_variable("FILCH_SCALE_BURDEN_NS", optarg);
        break;
    case 'c':
        o->csv = optarg;
        break;
    case 'p':
        o->plot = optarg;
        break;
    }
}

static scale_options read_args(int argc, char **argv)
{
    static const struct option known[] = {
        {"workers", required_argument, NULL, 'w'},
        {"measure", no_argument, NULL, 'm'},
        {"repeat", required_argument, NULL, 'r'},
        {"burden", required_argument, NULL, 'b'},
        {"csv", required_argument, NULL, 'c'},
        {"plot", required_argument, NULL, 'p'},
        COMMON_OPTIONS,
    };
    scale_options o = {.workers = {1, 2, 4, 8, 16, 32, 64}, .repeat = 0};
    for (int letter; (letter = next_option(argc, argv, "+:hV", known, scale_help)) != -1;)
        scale_take_option(&o, letter);
    if (optind == argc)
        usage_error("scale needs a program: filch scale -- PROGRAM ARGUMENTS");
    const char *why = o.plot ? gnuplot_check_file(o.plot) : NULL;
    if (why)
        usage_error("--plot %s: %s", o.plot, why);
    return o;
}

/* ---- runs ---- */

/* The exit code for a program that failed. */
static int report_exit(int ended, const char *program)
{
    if (ended > 128)
        fprintf(stderr, "filch: %s was killed by signal %d\n", program, ended - 128);
    else if (ended < 126)
        fprintf(stderr, "filch: %s exited with %d\n", program, ended);
    return EXIT_FAILED;
}

static bool read_line(const char *file, char *line)
{
    FILE *in = fopen(file, "r");
    bool got = in && fgets(line, LINE, in);
    if (in)
        fclose(in);
    return got;
}

static int record_run_into(const char *file, char **argv, scale_sums *out)
{
    char line[LINE];
    set_variable("FILCH_SCALE", file);
    int ended = passthrough_run(argv, NULL);
    unsetenv("FILCH_SCALE");
    if (ended != 0)
        return report_exit(ended, argv[0]);
    if (read_line(file, line) && scale_read(line, out))
        return EXIT_OK;
    fprintf(stderr,
            "filch: %s wrote no profile: it does not use Filch, or exited without filch_stop()\n",
            argv[0]);
    return EXIT_FAILED;
}

static int record_run(char **argv, scale_sums *out)
{
    const char *folder = getenv("TMPDIR");
    char file[4096];
    snprintf(file, sizeof file, "%s/filch-scale-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = mkstemp(file);
    if (fd < 0) {
        fprintf(stderr, "filch: %s: %s\n", file, strerror(errno));
        return EXIT_FAILED;
    }
    close(fd);
    int end = record_run_into(file, argv, out);
    unlink(file);
    return end;
}

/* What disturbs a run only ever makes it longer. */
static int record_runs(const scale_options *o, char **argv, scale_sums *out)
{
    int end = record_run(argv, out);
    for (int i = 1; i < o->repeat && end == EXIT_OK; i++) {
        scale_sums again;
        end = record_run(argv, &again);
        if (end == EXIT_OK)
            scale_keep_shorter(out, &again);
    }
    return end;
}

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The times of all runs with one number of workers. */
typedef double times[REPEATS_MAX];

static void summarise_run(scale_run *run, double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, by_value);
    run->best = t[0];
    run->median = n % 2 ? t[n / 2] : (t[n / 2 - 1] + t[n / 2]) / 2;
}

/* One run with each number of workers in turn, so that what disturbs the machine disturbs all
 * alike. */
static int measure_runs(const scale_options *o, char **argv, scale_result *r)
{
    static times all[RUNS_MAX];
    char text[16];
    int rounds = o->repeat > 0 ? o->repeat : 3;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < r->count; i++) {
            snprintf(text, sizeof text, "%u", r->runs[i].workers);
            set_variable("FILCH_WORKERS", text);
            double began = now_seconds();
            int ended = passthrough_run(argv, NULL);
            all[i][round] = now_seconds() - began;
            if (ended != 0)
                return report_exit(ended, argv[0]);
        }
    }
    for (int i = 0; i < r->count; i++)
        summarise_run(&r->runs[i], all[i], rounds);
    r->measured = true;
    return EXIT_OK;
}

static int report_file_error(const char *file, const char *why)
{
    if (!why)
        return EXIT_OK;
    fprintf(stderr, "filch: %s: %s\n", file, why);
    return EXIT_FAILED;
}

static int write_files(const scale_options *o, const scale_result *r)
{
    int end = o->csv ? report_file_error(o->csv, scale_write_csv(r, o->csv)) : EXIT_OK;
    if (end == EXIT_OK && o->plot)
        end = report_file_error(o->plot, scale_plot(r, o->plot));
    return end;
}

int command_scale(int argc, char **argv)
{
    static scale_result r;
    scale_options o = read_args(argc, argv);
    for (; o.workers[r.count] != 0; r.count++)
        r.runs[r.count].workers = o.workers[r.count];
    int end = record_runs(&o, argv + optind, &r.sums);
    if (end == EXIT_OK && o.measure)
        end = measure_runs(&o, argv + optind, &r);
    if (end != EXIT_OK)
        return end;
    scale_print(&r);
    return write_files(&o, &r);
}
