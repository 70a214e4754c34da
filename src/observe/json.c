/* A buffer of JSON text that is written to a descriptor, for chrome_events.c and trace_json.c. */
#include "observe/json.h"

#include "observe/output.h"

#include <stdbool.h>
#include <string.h>

void fi_json_flush(fi_json *j)
{
    if (!j->error)
        j->error = fi_output_append(j->fd, j->buffer, j->n);
    j->n = 0;
}

static void json_append(fi_json *j, const char *bytes, size_t n)
{
    if (j->n + n > sizeof j->buffer)
        fi_json_flush(j);
    memcpy(j->buffer + j->n, bytes, n);
    j->n += n;
}

void fi_json_raw(fi_json *j, const char *text)
{
    json_append(j, text, strlen(text));
}

void fi_json_number(fi_json *j, uint64_t n)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    json_append(j, digits + at, sizeof digits - at);
}

void fi_json_us(fi_json *j, int64_t ns)
{
    uint64_t left = ns > 0 ? (uint64_t)ns : 0;
    char part[4] = {'.', (char)('0' + left % 1000 / 100), (char)('0' + left % 100 / 10),
                    (char)('0' + left % 10)};

    fi_json_number(j, left / 1000);
    json_append(j, part, sizeof part);
}

/* ---- strings ---- */

/* The length of the UTF-8 character at c; 0: it is invalid. */
static size_t utf8_length(const unsigned char *c)
{
    static const struct {
        unsigned char mask, lead;
        unsigned min; /* the smallest value that needs this length */
    } kinds[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

    for (size_t n = 1; n <= 4; n++) {
        unsigned value = c[0] & (unsigned char)~kinds[n - 1].mask;
        if ((c[0] & kinds[n - 1].mask) != kinds[n - 1].lead)
            continue;
        for (size_t i = 1; i < n; i++) {
            if ((c[i] & 0xc0) != 0x80)
                return 0;
            value = value << 6 | (c[i] & 0x3f);
        }
        return value >= kinds[n - 1].min && value < 0x110000 && (value < 0xd800 || value > 0xdfff)
                   ? n
                   : 0;
    }
    return 0;
}

static void append_control(fi_json *j, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

    json_append(j, escape, sizeof escape);
}

void fi_json_part(fi_json *j, const char *text)
{
    while (*text) {
        size_t n = utf8_length((const unsigned char *)text);
        unsigned char c = (unsigned char)*text;
        if (n == 0)
            fi_json_raw(j, "\\ufffd");
        else if (c < 0x20 || c == 0x7f)
            append_control(j, c);
        else if (c == '"' || c == '\\')
            json_append(j, (char[]){'\\', (char)c}, 2);
        else
            json_append(j, text, n);
        text += n == 0 ? 1 : n;
    }
}

void fi_json_string(fi_json *j, const char *text)
{
    fi_json_raw(j, "\"");
    fi_json_part(j, text);
    fi_json_raw(j, "\"");
}
