/* Command-line arguments of the programs in bench/parts: [--json] and up to two numbers. */
#ifndef BENCH_PARTS_ARGS_H
#define BENCH_PARTS_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct args_number {
    size_t min, max;
    const char *error; /* message for an invalid argument; NULL: the program takes no such number */
    size_t value;      /* initially the default */
} args_number;

typedef struct args {
    const char *program, *help;
    args_number number[2];
    bool json;
} args;

_Noreturn static inline void args_error(const args *a, const char *text, const char *why)
{
    fprintf(stderr, "%s: %s: \"%s\"; see --help\n", a->program, why, text);
    exit(2);
}

static inline void args_number_parse(const args *a, args_number *number, const char *text)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0' || n < number->min || n > number->max)
        args_error(a, text, number->error);
    number->value = (size_t)n;
}

/* Exits with 0 after --help and with 2 after an invalid argument. */
static inline void args_parse(args *a, char **argv)
{
    int n = 0;

    for (; *argv; argv++) {
        if (strcmp(*argv, "--help") == 0) {
            printf("usage: %s %s", a->program, a->help);
            exit(0);
        }
        if (strcmp(*argv, "--json") == 0)
            a->json = true;
        else if (**argv == '-')
            args_error(a, *argv, "unknown option");
        else if (n == 2 || !a->number[n].error)
            args_error(a, *argv, "too many arguments");
        else
            args_number_parse(a, &a->number[n++], *argv);
    }
}

#endif
