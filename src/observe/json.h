/* JSON, written piece by piece to a descriptor. */
#ifndef FI_OBSERVE_JSON_H
#define FI_OBSERVE_JSON_H

#include <stddef.h>
#include <stdint.h>

typedef struct fi_json {
    int fd;
    int error; /* 0 or -errno: the first, after which nothing is written */
    size_t n;
    char buffer[(size_t)1 << 16];
} fi_json;

/* [owner] As it is. */
void fi_json_raw(fi_json *j, const char *text);

/* [owner] As a string, whatever is in it: what is not UTF-8 becomes U+FFFD. */
void fi_json_string(fi_json *j, const char *text);

/* [owner] The same without the quotes, for strings that are made of several. */
void fi_json_part(fi_json *j, const char *text);

/* [owner] */
void fi_json_number(fi_json *j, uint64_t n);

/* [owner] Nanoseconds, as microseconds with three digits behind the point. */
void fi_json_us(fi_json *j, int64_t ns);

/* [owner] All that is not written yet. */
void fi_json_flush(fi_json *j);

#endif
