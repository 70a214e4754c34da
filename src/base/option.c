#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif
#include "base/option.h"

#include "base/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The caller of a set-uid program controls its environment, and these variables name files to
 * write.  So that program ignores them. */
const char *fi_option_env(const char *variable)
{
    const char *text = secure_getenv(variable);

    return text && *text ? text : NULL;
}

/* A wrong value of FILCH_STRICT itself counts as 0. */
static bool is_strict(void)
{
    const char *text = fi_option_env("FILCH_STRICT");

    return text && strcmp(text, "1") == 0;
}

int fi_option_reject(const char *format, ...)
{
    bool strict = is_strict();
    char text[768];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (strict)
        return fi_message_invalid("%s", text);
    fi_message(FILCH_LEVEL_WARNING, "%s; the value is ignored", text);
    return 0;
}

static int unit_shift(char unit)
{
    switch (unit) {
    case 'k':
    case 'K':
        return 10;
    case 'm':
    case 'M':
        return 20;
    case 'g':
    case 'G':
        return 30;
    default:
        return -1;
    }
}

bool fi_option_parse(const char *text, bool units, uint64_t *out)
{
    char *end;
    int shift;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (errno)
        return false;
    if (!*end)
        return true;
    shift = units && !end[1] ? unit_shift(*end) : -1;
    if (shift < 0 || *out > UINT64_MAX >> shift)
        return false;
    *out <<= shift;
    return true;
}

/* False: *out is as before. */
static bool option_parse_within(const fi_option *o, const char *text, uint64_t *out)
{
    uint64_t n;

    if (!fi_option_parse(text, o->units, &n) || n < o->min || n > o->max)
        return false;
    *out = n;
    return true;
}

int fi_option_number(const fi_option *o, uint64_t *out)
{
    const char *text = o->configured ? NULL : fi_option_env(o->variable);

    *out = o->configured ? o->configured : o->fallback;
    if (text && !option_parse_within(o, text, out))
        return fi_option_reject("%s: invalid number ('%s'); use %llu to %llu", o->variable, text,
                                (unsigned long long)o->min, (unsigned long long)o->max);
    if (o->configured && (o->configured < o->min || o->configured > o->max))
        return fi_message_invalid("filch_config.%s: out of range (%llu); use %llu to %llu",
                                  o->field, (unsigned long long)o->configured,
                                  (unsigned long long)o->min, (unsigned long long)o->max);
    return 0;
}

int fi_option_choice(const char *variable, const char *zero, const char *one, int fallback)
{
    const char *text = fi_option_env(variable);
    int e;

    if (!text)
        return fallback;
    if (strcmp(text, zero) == 0)
        return 0;
    if (strcmp(text, one) == 0)
        return 1;
    e = fi_option_reject("%s: unknown value ('%s'); use %s or %s", variable, text, zero, one);
    return e < 0 ? e : fallback;
}
