/* What somebody wishes a runtime to be like, in words and numbers; nonsense is named on stderr. */
#ifndef FI_SCHED_WISH_H
#define FI_SCHED_WISH_H

#include <stdbool.h>
#include <stdint.h>

/* A line on stderr; -EINVAL. */
int fi_wish_nonsense(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The value of an environment variable.  NULL: it is not set, or empty, or the program has more
 * privileges than its caller. */
const char *fi_wish_from_env(const char *variable);

/* A number in decimal, or with a unit where units is true. */
bool fi_wish_parse(const char *text, bool units, uint64_t *out);

/* One number: wish if it is not 0, else that of the environment, else fallback. */
typedef struct fi_wish {
    const char *variable, *field;
    uint64_t wish, min, max, fallback;
    bool units;
} fi_wish;
int fi_wish_number(const fi_wish *n, uint64_t *out);

/* One of two words: 0 or 1, or -EINVAL. */
int fi_wish_word(const char *variable, const char *zero, const char *one, int fallback);

#endif
