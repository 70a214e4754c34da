/* What somebody wishes a runtime to be like, in words and numbers; nonsense is named on stderr. */
#ifndef FI_BASE_OPTION_H
#define FI_BASE_OPTION_H

#include <stdbool.h>
#include <stdint.h>

/* A line on stderr; -EINVAL. */
int fi_option_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The value of an environment variable.  NULL: it is not set, or empty, or the program has more
 * privileges than its caller. */
const char *fi_option_env(const char *variable);

/* A number in decimal, or with a unit where units is true. */
bool fi_option_parse(const char *text, bool units, uint64_t *out);

/* One number: wish if it is not 0, else that of the environment, else fallback. */
typedef struct fi_option {
    const char *variable, *field;
    uint64_t wish, min, max, fallback;
    bool units;
} fi_option;
int fi_option_number(const fi_option *n, uint64_t *out);

/* One of two words: 0 or 1, or -EINVAL. */
int fi_option_choice(const char *variable, const char *zero, const char *one, int fallback);

#endif
