/* Incremental parser of the head of an HTTP/1 request.  It copies nothing and reads each byte
 * once. */
#ifndef EXAMPLES_HTTP_PARSER_H
#define EXAMPLES_HTTP_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_HEAD_MAX 8192 /* bytes, including the empty line at the end */

typedef enum http_method {
    HTTP_OTHER,
    HTTP_GET,
    HTTP_HEAD,
} http_method;

typedef struct http_parser {
    /* Valid when the head is complete. */
    http_method method;
    size_t path, path_n; /* offset and length in the text, without the query */
    uint64_t body;       /* size of the body */
    bool keep_alive;
    bool is_http_1_0;      /* HTTP/1.0 */
    bool expects_continue; /* Expect: 100-continue */
    /* State of the parser. */
    size_t line; /* offset of the current, incomplete line */
    size_t seen; /* offset up to which the text was searched for a newline */
    uint8_t hosts, lengths, encodings, unknown_expects;
    bool has_first_line, close_said, keep_said;
} http_parser;

/* Parse the n bytes of text received so far, from the first byte of the request.  Zero *p before
 * each request.  The text may move between calls.  The result depends on the bytes alone, not on
 * how they were split.  Returns: the size of the head; 0: incomplete; the negated HTTP status of
 * an error. */
int http_parse(http_parser *p, const char *text, size_t n);

#endif
