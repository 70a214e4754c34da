/* Filch's algorithms compared with their peers and with serial loops.
 *
 * algo_bench [--quick] [SECTION] [ROUNDS]
 */
#include "parts/algo/algo_bench.h"
#include "parts/args.h"

static const struct section {
    const char *name;
    void (*run)(const algo_options *o);
} sections[] = {
    {"sort", algo_sort},
    {"scan", algo_scan},
    {"loops", algo_loops},
    {"gaps", algo_gaps},
};

static const char help[] = "[--quick] [SECTION] [ROUNDS]\n"
                           "Compare Filch's algorithms with their peers in ROUNDS rounds (7).  "
                           "--quick: small sizes, one round.\n"
                           "Sections:";

static bool is_section(const char *text)
{
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strcmp(sections[i].name, text) == 0)
            return true;
    return false;
}

static void print_help(void)
{
    printf("usage: algo_bench %s", help);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        printf(" %s", sections[i].name);
    printf("\n");
}

/* Returns the name of the requested section, or NULL for all of them. */
static const char *parse_args(algo_options *o, char **argv)
{
    args a = {.program = "algo_bench"};
    args_number rounds = {1, 1000, "not a section or a number of rounds", 7};
    const char *section = NULL;

    for (; *argv; argv++) {
        if (strcmp(*argv, "--help") == 0) {
            print_help();
            exit(0);
        }
        if (strcmp(*argv, "--quick") == 0) {
            o->quick = true;
            rounds.value = 1;
        } else if (**argv == '-')
            args_error(&a, *argv, "unknown option");
        else if (is_section(*argv))
            section = *argv;
        else
            args_number_parse(&a, &rounds, *argv);
    }
    o->rounds = rounds.value;
    return section;
}

int main(int argc, char **argv)
{
    algo_options o = {0};
    const char *wanted = parse_args(&o, argv + (argc > 0));

    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (!wanted || strcmp(wanted, sections[i].name) == 0)
            sections[i].run(&o);
    return 0;
}
