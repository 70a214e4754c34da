/* A buffered JSON writer. */
#ifndef FI_OBSERVE_JSON_H
#define FI_OBSERVE_JSON_H

#include <stddef.h>
#include <stdint.h>

typedef struct fi_json {
    int fd;
    int error; /* the first -errno, or 0; after an error nothing is written */
    size_t n;
    char buffer[(size_t)1 << 16];
} fi_json;

/* [owner] Write text without changes. */
void fi_json_raw(fi_json *j, const char *text);

/* [owner] Write text as a quoted, escaped string.  Bytes that are not UTF-8 become U+FFFD. */
void fi_json_string(fi_json *j, const char *text);

/* [owner] The same without the quotes, for a string of several parts. */
void fi_json_part(fi_json *j, const char *text);

void fi_json_number(fi_json *j, uint64_t n);

/* [owner] Write nanoseconds as microseconds with three decimals. */
void fi_json_us(fi_json *j, int64_t ns);

/* [owner] Write the buffer to the descriptor. */
void fi_json_flush(fi_json *j);

#endif
