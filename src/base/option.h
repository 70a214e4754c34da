/* Settings from filch_config and from FILCH_* environment variables. */
#ifndef FI_BASE_OPTION_H
#define FI_BASE_OPTION_H

#include <stdbool.h>
#include <stdint.h>

/* Report a wrong value of an environment variable.  Returns: 0: use the default; -EINVAL:
 * FILCH_STRICT is 1, and the runtime must not start. */
int fi_option_reject(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The value of an environment variable.  NULL: it is unset or empty, or the program has more
 * privileges than its caller. */
const char *fi_option_env(const char *variable);

/* Parse a decimal number.  units: it may end with k, m or g (powers of 1024). */
bool fi_option_parse(const char *text, bool units, uint64_t *out);

/* A numeric setting: `configured` if it is not 0, else the environment variable, else `fallback`.
 */
typedef struct fi_option {
    const char *variable, *field; /* of the environment and of filch_config */
    uint64_t configured, min, max, fallback;
    bool units;
} fi_option;

/* Returns 0 or -EINVAL.  A wrong variable counts as unset, unless FILCH_STRICT is 1. */
int fi_option_number(const fi_option *o, uint64_t *out);

/* An environment variable with two values.  Returns 0 for `zero`, 1 for `one`, fallback if it is
 * unset or wrong, or -EINVAL with FILCH_STRICT. */
int fi_option_choice(const char *variable, const char *zero, const char *one, int fallback);

#endif
