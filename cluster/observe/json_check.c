/* A parser that only accepts or rejects.  Each function gets the start of a part, and returns its
 * end; NULL: the part is invalid. */
#include "observe/json_check.h"

#include <stddef.h>
#include <string.h>

#define DEPTH_MAX 8 /* of nested objects and arrays; an event has two */

static const char *skip_value(const char *p, const char *end, int depth);

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static const char *skip_char(const char *p, const char *end, char c)
{
    return p && p < end && *p == c ? p + 1 : NULL;
}

/* ---- strings ---- */

static const char *skip_escape(const char *p, const char *end)
{
    if (p == end)
        return NULL;
    if (*p != 'u')
        return *p != '\0' && strchr("\"\\/bfnrt", *p) ? p + 1 : NULL;
    for (int i = 1; i <= 4; i++)
        if (p + i >= end || !is_hex(p[i]))
            return NULL;
    return p + 5;
}

/* Overlong forms, surrogates and numbers above 10ffff are not UTF-8.  The second byte shows
 * them. */
static bool is_second_byte(unsigned first, unsigned second)
{
    unsigned min = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned max = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

    return second >= min && second <= max;
}

static const char *skip_multibyte(const char *p, const char *end)
{
    const unsigned char *c = (const unsigned char *)p;
    int n = c[0] < 0xc2 || c[0] > 0xf4 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;

    if (n == 0 || end - p < n || !is_second_byte(c[0], c[1]))
        return NULL;
    for (int i = 2; i < n; i++)
        if ((c[i] & 0xc0) != 0x80)
            return NULL;
    return p + n;
}

static const char *skip_string(const char *p, const char *end)
{
    p = skip_char(p, end, '"');
    while (p && p < end && *p != '"') {
        if (*p == '\\')
            p = skip_escape(p + 1, end);
        else if ((unsigned char)*p >= 0x80)
            p = skip_multibyte(p, end);
        else
            p = (unsigned char)*p < 0x20 ? NULL : p + 1;
    }
    return skip_char(p, end, '"');
}

/* ---- other values ---- */

static const char *skip_digits(const char *p, const char *end)
{
    const char *start = p;

    while (p < end && is_digit(*p))
        p++;
    return p > start ? p : NULL;
}

/* Without an exponent: the writer has none.  A leading 0 is the only digit. */
static const char *skip_number(const char *p, const char *end)
{
    const char *digits;

    if (p < end && *p == '-')
        p++;
    digits = p;
    p = skip_digits(p, end);
    if (!p || (*digits == '0' && p > digits + 1))
        return NULL;
    return p < end && *p == '.' ? skip_digits(p + 1, end) : p;
}

static const char *skip_word(const char *p, const char *end)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(end - p) >= n && memcmp(p, words[i], n) == 0)
            return p + n;
    }
    return NULL;
}

/* p is after the opening bracket. */
static const char *skip_members(const char *p, const char *end, int depth, char close)
{
    if (p < end && *p == close)
        return p + 1;
    while (p) {
        if (close == '}')
            p = skip_char(skip_string(p, end), end, ':');
        p = p ? skip_value(p, end, depth + 1) : NULL;
        if (!p || p == end || *p != ',')
            return skip_char(p, end, close);
        p++;
    }
    return NULL;
}

static const char *skip_value(const char *p, const char *end, int depth)
{
    if (p == end || depth > DEPTH_MAX)
        return NULL;
    if (*p == '{')
        return skip_members(p + 1, end, depth, '}');
    if (*p == '[')
        return skip_members(p + 1, end, depth, ']');
    if (*p == '"')
        return skip_string(p, end);
    return *p == '-' || is_digit(*p) ? skip_number(p, end) : skip_word(p, end);
}

bool fi_json_is_object(const char *text, const char *end)
{
    return text < end && *text == '{' && skip_value(text, end, 0) == end;
}
