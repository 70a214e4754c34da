/* The command `filch lab csv`. */
#include "csv.h"

#include "args.h"
#include "samples.h"

#include <inttypes.h>
#include <stdio.h>

static void csv_help(void)
{
    printf("usage: filch lab csv FILE\n\n"
           "Prints the samples in FILE as CSV.  A program writes such a file when it runs with "
           "FILCH_SAMPLE=FILE.\n"
           "Each row is a sample: ticks, seconds since the first sample, and for each worker the "
           "size and the\n"
           "counters of its deque; see filch-samples(5).\n\n"
           "  -h, --help            print this text\n"
           "  -V, --version         print the version\n");
}

static void write_head(const samples *s)
{
    printf("ticks,seconds");
    for (uint32_t d = 0; d < s->head.deques; d++) {
        printf(",size_%" PRIu32, d);
        for (uint32_t c = 0; c < s->head.columns; c++)
            printf(",%.*s_%" PRIu32, FILCH_SAMPLES_NAME, samples_column(s, c), d);
    }
    printf("\n");
}

static void write_row(const samples *s, uint64_t i)
{
    uint64_t stamp = samples_stamp(s, i);
    printf("%" PRIu64 ",%.9f", stamp,
           (double)(int64_t)(stamp - samples_stamp(s, 0)) / (double)s->head.ticks_per_second);
    for (uint32_t d = 0; d < s->head.deques; d++) {
        printf(",%" PRId32, samples_deque_size(s, i, d));
        for (uint32_t c = 0; c < s->head.columns; c++)
            printf(",%" PRIu32, samples_value(s, i, d, c));
    }
    printf("\n");
}

int lab_csv(int argc, char **argv)
{
    static const struct option known[] = {COMMON_OPTIONS};
    samples s;
    next_option(argc, argv, ":hV", known, csv_help);
    if (optind == argc)
        usage_error("csv needs a file of samples");
    if (optind + 1 < argc)
        usage_error("csv takes one file (got also '%s')", argv[optind + 1]);
    const char *file = argv[optind], *why = samples_open(&s, file);
    if (why) {
        fprintf(stderr, "filch: %s: %s\n", file, why);
        return EXIT_FAILED;
    }
    write_head(&s);
    for (uint64_t i = 0; i < s.head.samples; i++)
        write_row(&s, i);
    samples_close(&s);
    return EXIT_OK;
}
