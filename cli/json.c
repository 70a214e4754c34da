/* Read JSON in place.  Values are pointers into the text. */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 16 };

static const char *skip_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

static const char *skip_string(const char *p)
{
    if (*p++ != '"')
        return NULL;
    for (; *p != '"'; p++)
        if (*p == '\0' || (*p == '\\' && *++p == '\0'))
            return NULL;
    return p + 1;
}

static const char *skip_word(const char *p)
{
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++)
        if (strncmp(p, words[i], strlen(words[i])) == 0)
            return p + strlen(words[i]);
    size_t n = strspn(p, "+-.0123456789eE");
    char *end;
    strtod(p, &end);
    return n > 0 && end == p + n ? end : NULL;
}

static const char *skip_value(const char *p, int deep);

/* "name": up to where the value begins. */
static const char *skip_name(const char *p)
{
    p = skip_string(p);
    p = p ? skip_space(p) : NULL;
    return p && *p == ':' ? skip_space(p + 1) : NULL;
}

/* An object or an array. */
static const char *skip_many(const char *p, int deep)
{
    bool is_object = *p == '{';
    char end = is_object ? '}' : ']';
    p = skip_space(p + 1);
    if (*p == end)
        return p + 1;
    for (;;) {
        p = is_object ? skip_name(p) : p;
        p = p ? skip_value(p, deep + 1) : NULL;
        if (!p)
            return NULL;
        p = skip_space(p);
        if (*p == end)
            return p + 1;
        if (*p != ',')
            return NULL;
        p = skip_space(p + 1);
    }
}

/* What follows the value that begins at p, or NULL where none does. */
static const char *skip_value(const char *p, int deep)
{
    if (deep > DEEPEST)
        return NULL;
    if (*p == '{' || *p == '[')
        return skip_many(p, deep);
    return *p == '"' ? skip_string(p) : skip_word(p);
}

bool json_is_object(const char *text)
{
    text = skip_space(text);
    if (*text != '{')
        return false;
    const char *end = skip_value(text, 0);
    return end && *skip_space(end) == '\0';
}

const char *json_begin(const char *many)
{
    many = skip_space(many);
    if (*many != '{' && *many != '[')
        return NULL;
    const char *first = skip_space(many + 1);
    return *first == '}' || *first == ']' ? NULL : first;
}

/* A name is a string, too; what tells a member from an element is the colon after it. */
const char *json_value(const char *member)
{
    const char *value = skip_name(member);
    return value ? value : member;
}

const char *json_next(const char *one)
{
    const char *p = skip_space(skip_value(json_value(one), 0));
    return *p == ',' ? skip_space(p + 1) : NULL;
}

const char *json_member(const char *object, const char *name)
{
    size_t length = strlen(name);
    for (const char *m = json_begin(object); m; m = json_next(m))
        if (m[0] == '"' && strncmp(m + 1, name, length) == 0 && m[1 + length] == '"')
            return json_value(m);
    return NULL;
}

/* The character of the escape at p, as UTF-8.  *p is set to the last byte of the escape. */
static size_t unescape(const char **p, char out[4])
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *letter = strchr(letters, *++*p);
    unsigned code = '?';
    if (letter)
        code = (unsigned char)meanings[letter - letters];
    else if (**p == 'u' && sscanf(*p + 1, "%4x", &code) == 1)
        *p += strspn(*p + 1, "0123456789abcdefABCDEF") < 4 ? 0 : 4;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 0x3f));
    out[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

bool json_string(const char *value, char *out, size_t capacity)
{
    if (!value || *value != '"')
        return false;
    const char *end = skip_string(value) - 1;
    size_t n = 0;
    for (const char *p = value + 1; p < end; p++) {
        char bytes[4] = {*p};
        size_t length = *p == '\\' ? unescape(&p, bytes) : 1;
        if (n + length >= capacity)
            return false;
        memcpy(out + n, bytes, length);
        n += length;
    }
    out[n] = '\0';
    return true;
}

bool json_number(const char *value, double *out)
{
    if (!value || !strchr("-0123456789", *value))
        return false;
    *out = strtod(value, NULL);
    return isfinite(*out);
}
