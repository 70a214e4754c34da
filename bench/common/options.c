#include "options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The words as they were given; NULL where they were not. */
typedef struct words {
    const char *size, *input, *workers, *repetitions;
    bool quick;
} words;

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
            printf("  -i %s%s\n", i->name, i == w->inputs ? " (without -i)" : "");
        printf("  -n SIZE   %s: %ld to %ld (%ld)\n", i->size_is, i->min, i->max, i->standard);
        printf("  -q        the size for a quick look: %ld\n", i->quick);
    }
    printf("  -w N      workers: 1 to %d (1)\n", WORKERS_MAX);
    printf("  -r N      repetitions: 1 to %d (1)\n", REPETITIONS_MAX);
}

static _Noreturn void refuse(const char *word, const char *why)
{
    fprintf(stderr, "%s: \"%s\" %s\n", program, word, why);
    exit(2);
}

static bool is_number(const char *word, long *value)
{
    char *end;
    errno = 0;
    *value = strtol(word, &end, 10);
    return word[0] >= '0' && word[0] <= '9' && *end == '\0' && errno == 0;
}

/* The number in word, or the standard one where no word was given. */
static long number(const char *word, const char *what, long min, long max, long standard)
{
    long value;
    if (!word)
        return standard;
    if (is_number(word, &value) && value >= min && value <= max)
        return value;
    fprintf(stderr, "%s: %s must be a number from %ld to %ld, and not \"%s\"\n", program, what,
            min, max, word);
    exit(2);
}

static const bench_input *input_named(const char *word)
{
    const bench_input *i = bench_the_workload.inputs;
    if (!word)
        return i;
    for (; i->size_is; i++)
        if (i->name && strcmp(i->name, word) == 0)
            return i;
    refuse(word, "is no input of this workload");
}

static void take(words *w, int letter)
{
    char word[] = {'-', (char)optopt, '\0'};
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
        refuse(word, letter == ':' ? "needs a value" : "is no option; -h lists them");
    }
}

bench_options bench_options_read(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    program = slash ? slash + 1 : argv[0];
    words w = {0};
    opterr = 0;
    for (int letter; (letter = getopt(argc, argv, ":n:qw:r:i:h")) != -1;)
        take(&w, letter);
    if (optind < argc)
        refuse(argv[optind], "is not understood; -h helps");

    const bench_input *i = input_named(w.input);
    long standard = w.quick ? i->quick : i->standard;
    bench_options o = {.spec.input = i->name};
    o.spec.size = number(w.size, i->size_is, i->min, i->max, standard);
    o.workers = (unsigned)number(w.workers, "the number of workers", 1, WORKERS_MAX, 1);
    o.repetitions = (int)number(w.repetitions, "the number of repetitions", 1, REPETITIONS_MAX, 1);
    return o;
}
