/* The args that the programs here understand: [--json] and up to two numbers. */
#ifndef BENCH_PARTS_ARGS_H
#define BENCH_PARTS_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct args_number {
    size_t min, max;
    const char *error; /* said of what is none */
    size_t value;      /* the default, until it is given */
} args_number;

typedef struct args {
    const char *program, *help;
    args_number number[2];
    bool json;
} args;

_Noreturn static inline void args_error(const args *w, const char *word, const char *why)
{
    fprintf(stderr, "%s: %s: \"%s\"; --help says more\n", w->program, why, word);
    exit(2);
}

static inline void args_number_parse(const args *w, args_number *number, const char *word)
{
    char *end;
    unsigned long long n = strtoull(word, &end, 10);

    if (*word < '0' || *word > '9' || *end != '\0' || n < number->min || n > number->max)
        args_error(w, word, number->error);
    number->value = (size_t)n;
}

/* Numbers that the program does not take have no error. */
static inline void args_parse(args *w, char **argv)
{
    int n = 0;

    for (; *argv; argv++) {
        if (strcmp(*argv, "--help") == 0) {
            printf("usage: %s %s", w->program, w->help);
            exit(0);
        }
        if (strcmp(*argv, "--json") == 0)
            w->json = true;
        else if (**argv == '-')
            args_error(w, *argv, "unknown option");
        else if (n == 2 || !w->number[n].error)
            args_error(w, *argv, "one word too many");
        else
            args_number_parse(w, &w->number[n++], *argv);
    }
}

#endif
