/* The algorithms beside their peers and beside plain loops.
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
};

static const char help[] = "[--quick] [SECTION] [ROUNDS]\n"
                           "The algorithms beside their peers, in ROUNDS (7); --quick takes small "
                           "sizes and one round.\n"
                           "Sections:";

static bool is_section(const char *word)
{
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strcmp(sections[i].name, word) == 0)
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

/* The name of the section that is asked for; NULL: all of them. */
static const char *parse_args(algo_options *o, char **argv)
{
    args w = {.program = "algo_bench"};
    args_number rounds = {1, 1000, "no section, and no number of rounds", 7};
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
            args_error(&w, *argv, "unknown option");
        else if (is_section(*argv))
            section = *argv;
        else
            args_number_parse(&w, &rounds, *argv);
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
