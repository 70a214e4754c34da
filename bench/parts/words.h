/* The words that the programs here understand: [--json] and up to two numbers. */
#ifndef BENCH_PARTS_WORDS_H
#define BENCH_PARTS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct words_number {
    size_t least, most;
    const char *why_not; /* said of what is none */
    size_t value;        /* the default, until it is given */
} words_number;

typedef struct words {
    const char *program, *help;
    words_number number[2];
    bool json;
} words;

_Noreturn static inline void words_refuse(const words *w, const char *word, const char *why)
{
    fprintf(stderr, "%s: %s: \"%s\"; --help says more\n", w->program, why, word);
    exit(2);
}

static inline void words_read_number(const words *w, words_number *number, const char *word)
{
    char *end;
    unsigned long long n = strtoull(word, &end, 10);

    if (*word < '0' || *word > '9' || *end != '\0' || n < number->least || n > number->most)
        words_refuse(w, word, number->why_not);
    number->value = (size_t)n;
}

/* Numbers that the program does not take have no why_not. */
static inline void words_read(words *w, char **argv)
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
            words_refuse(w, *argv, "unknown option");
        else if (n == 2 || !w->number[n].why_not)
            words_refuse(w, *argv, "one word too many");
        else
            words_read_number(w, &w->number[n++], *argv);
    }
}

#endif
