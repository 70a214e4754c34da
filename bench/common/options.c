/* Parse the options of a benchmark program, for main.c. */
#include "options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Option values as text; NULL if not given. */
typedef struct option_texts {
    const char *size, *input, *workers, *repetitions;
    bool quick;
} option_texts;

static const char *program;

static void help(void)
{
    const bench_workload *w = &bench_the_workload;
    bool choice = w->inputs[0].name != NULL;
    printf("usage: %s [-n SIZE | -q] [-w WORKERS] [-r REPETITIONS]%s\n\n", program,
           choice ? " [-i INPUT]" : "");
    printf("Times %s on %s and prints one line of JSON.\n\n", w->name, bench_runtime);
    for (const bench_input *i = w->inputs; i->size_is; i++) {
        if (choice)
            printf("  -i %s%s\n", i->name, i == w->inputs ? " (default)" : "");
        printf("  -n SIZE   %s: %ld to %ld (%ld)\n", i->size_is, i->min, i->max, i->standard);
        printf("  -q        small size for a quick run: %ld\n", i->quick);
    }
    printf("  -w N      workers: 1 to %d (1)\n", WORKERS_MAX);
    printf("  -r N      repetitions: 1 to %d (1)\n", REPETITIONS_MAX);
}

static _Noreturn void usage_error(const char *arg, const char *why)
{
    fprintf(stderr, "%s: \"%s\" %s\n", program, arg, why);
    exit(2);
}

static bool parse_number(const char *text, long *value)
{
    char *end;
    errno = 0;
    *value = strtol(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

/* The number in text, or standard if text is NULL. */
static long number_option(const char *text, const char *what, long min, long max, long standard)
{
    long value;
    if (!text)
        return standard;
    if (parse_number(text, &value) && value >= min && value <= max)
        return value;
    fprintf(stderr, "%s: %s must be a number from %ld to %ld (got '%s')\n", program, what, min, max,
            text);
    exit(2);
}

static const bench_input *input_named(const char *name)
{
    const bench_input *i = bench_the_workload.inputs;
    if (!name)
        return i;
    for (; i->size_is; i++)
        if (i->name && strcmp(i->name, name) == 0)
            return i;
    usage_error(name, "is not an input of this workload");
}

static void set_option(option_texts *w, int letter)
{
    char option[] = {'-', (char)optopt, '\0'};
    switch (letter) {
    case 'n':
        w->size = optarg;
        break;
    case 'i':
        w->input = optarg;
        break;
    case 'w':
        w->workers = optarg;
        break;
    case 'r':
        w->repetitions = optarg;
        break;
    case 'q':
        w->quick = true;
        break;
    case 'h':
        help();
        exit(0);
    default:
        usage_error(option, letter == ':' ? "needs a value" : "is not an option; see -h");
    }
}

bench_options bench_options_read(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    program = slash ? slash + 1 : argv[0];
    option_texts w = {0};
    opterr = 0;
    for (int letter; (letter = getopt(argc, argv, ":n:qw:r:i:h")) != -1;)
        set_option(&w, letter);
    if (optind < argc)
        usage_error(argv[optind], "is not an option; see -h");

    const bench_input *i = input_named(w.input);
    long standard = w.quick ? i->quick : i->standard;
    bench_options o = {.spec.input = i->name};
    o.spec.size = number_option(w.size, i->size_is, i->min, i->max, standard);
    o.workers = (unsigned)number_option(w.workers, "the number of workers", 1, WORKERS_MAX, 1);
    o.repetitions =
        (int)number_option(w.repetitions, "the number of repetitions", 1, REPETITIONS_MAX, 1);
    return o;
}
