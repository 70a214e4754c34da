/* uts-cluster: the Unbalanced Tree Search on one process or on the ranks of an MPI job.
 *
 * It prints one line of JSON.  samples: wall time of each repetition in seconds, on rank 0.  cpu_ms:
 * CPU time of all threads of all ranks in each repetition.  The start of MPI is in neither. */
#include "bench.h"
#include "frontier.h"
#include "items.h"

#include <filch/cluster.h>
#include <filch/runtime.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPETITIONS_MAX = 1000 };

typedef struct options {
    bench_case tree;
    const char *interface;
    int (*run)(uint64_t *nodes);
    long repetitions;
} options;

typedef struct sample {
    double wall, cpu; /* seconds */
} sample;

static void help(void)
{
    puts(
        "usage: uts-cluster [--pool | --strings] [--size N] [--repeat N] [T1 | T3]\n"
        "       mpirun -n RANKS uts-cluster ...\n\n"
        "Counts the nodes of a UTS tree (T1) with <filch/cluster.h> and prints one line of "
        "JSON.\n\n"
        "  --pool      each node is an item of a pool\n"
        "  --strings   each node is an item that contains text\n"
        "  --size N    T1: the depth (10); T3: the number of the root's children (2000)\n"
        "  --repeat N  repetitions (1)\n"
        "  -h          print this\n\n"
        "Without --pool and --strings, a bag of unexplored nodes is used.  FILCH_WORKERS sets the\n"
        "number of workers of a rank.");
}

/* ---- options ---- */

static _Noreturn void usage_error(const char *arg, const char *why)
{
    fprintf(stderr, "uts-cluster: '%s' %s; see -h\n", arg, why);
    exit(2);
}

static long number_option(const char *text, long min, long max)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0' || value < min || value > max)
        usage_error(text, "is not a number in the range of this option");
    return value;
}

static const bench_input *input_named(const char *name)
{
    const bench_input *input = bench_the_workload.inputs;

    for (; input->name; input++)
        if (strcmp(input->name, name) == 0)
            return input;
    usage_error(name, "is not a tree");
}

static void set_interface(options *o, const char *name, int (*run)(uint64_t *nodes))
{
    o->interface = name;
    o->run = run;
}

/* Returns the value of --size, or NULL. */
static const char *read_flags(options *o, int argc, char **argv)
{
    static const struct option flags[] = {
        {"pool", no_argument, NULL, 'p'},       {"strings", no_argument, NULL, 's'},
        {"size", required_argument, NULL, 'n'}, {"repeat", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},       {0}};
    const char *size = NULL;

    for (int flag; (flag = getopt_long(argc, argv, "h", flags, NULL)) != -1;) {
        if (flag == 'p')
            set_interface(o, "pool", nodes_run);
        else if (flag == 's')
            set_interface(o, "strings", texts_run);
        else if (flag == 'n')
            size = optarg;
        else if (flag == 'r')
            o->repetitions = number_option(optarg, 1, REPETITIONS_MAX);
        else if (flag == 'h')
            help();
        if (flag == 'h' || flag == '?')
            exit(flag == 'h' ? fflush(stdout) != 0 : 2);
    }
    return size;
}

static options options_read(int argc, char **argv)
{
    options o = {.interface = "bag", .run = frontier_run, .repetitions = 1};
    const char *size = read_flags(&o, argc, argv);
    const bench_input *input = input_named(optind < argc ? argv[optind++] : "T1");

    if (optind < argc)
        usage_error(argv[optind], "is an extra argument");
    o.tree.input = input->name;
    o.tree.size = size ? number_option(size, input->min, input->max) : input->standard;
    return o;
}

/* ---- measurement ---- */

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int time_handle(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    (void)pool;
    (void)size;
    (void)ctx;
    *(double *)acc += *(const double *)item;
    return 0;
}

static void time_add(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(double *)acc += *(const double *)other;
}

/* Add up one number of each rank. */
static int sum_of_ranks(double mine, double *sum)
{
    static const filch_pool_type type = {
        .item_size = sizeof(double),
        .handle = time_handle,
        .acc_size = sizeof(double),
        .combine = time_add,
    };

    *sum = 0;
    return filch_cluster_pool(&type, &mine, 1, sum, NULL);
}

/* Returns 0, the error of a run, or 1 after reporting a wrong result. */
static int measure(const options *o, sample *s)
{
    uint64_t nodes = 0;
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    int e = o->run(&nodes);

    s->wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    if (e == 0)
        e = sum_of_ranks(cpu, &s->cpu);
    if (e == 0 && (int64_t)nodes != o->tree.expected) {
        fprintf(stderr, "uts-cluster: wrong result %" PRIu64 ", expected %" PRId64 "\n", nodes,
                o->tree.expected);
        e = 1;
    }
    return e;
}

static void print_json(const options *o, const sample *samples)
{
    printf("{\"workload\":\"uts-%s\",\"runtime\":\"cluster\",\"interface\":\"%s\",\"size\":%ld",
           o->tree.input, o->interface, o->tree.size);
    printf(",\"ranks\":%u,\"workers\":%u,\"result\":%" PRId64 ",\"samples\":[",
           filch_cluster_ranks(), filch_worker_count(), o->tree.expected);
    for (long i = 0; i < o->repetitions; i++)
        printf("%s%.6f", i > 0 ? "," : "", samples[i].wall);
    printf("],\"metrics\":{\"cpu_ms\":[");
    for (long i = 0; i < o->repetitions; i++)
        printf("%s%.3f", i > 0 ? "," : "", samples[i].cpu * 1e3);
    puts("]}}");
}

int main(int argc, char **argv)
{
    static sample samples[REPETITIONS_MAX];
    options o = options_read(argc, argv);

    bench_the_workload.prepare(&o.tree);
    int e = filch_cluster_start(NULL);
    for (long i = 0; i < o.repetitions && e == 0; i++)
        e = measure(&o, &samples[i]);
    if (e == 0 && filch_cluster_rank() == 0)
        print_json(&o, samples);
    else if (e < 0)
        fprintf(stderr, "uts-cluster: %s\n", strerror(-e));
    return filch_cluster_stop() < 0 || e != 0 || fflush(stdout) != 0;
}
