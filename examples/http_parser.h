/* The head of an HTTP/1 request, line by line, as it comes in.  Nothing is copied, and no byte is looked at twice. */
#ifndef EXAMPLES_HTTP_PARSER_H
#define EXAMPLES_HTTP_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_HEAD_MAX 8192 /* bytes, with the empty line at its end */

typedef enum http_method {
    HTTP_OTHER,
    HTTP_GET,
    HTTP_HEAD,
} http_method;

typedef struct http_parser {
    /* What is known once the head is complete. */
    http_method method;
    size_t path, path_n; /* where it stands in the text; without what follows a question mark */
    uint64_t body;       /* bytes that follow the head */
    bool keep_alive;
    bool old;     /* HTTP/1.0 */
    bool expects; /* to be told whether the body is wanted */
    /* How far it is. */
    size_t line; /* where the line begins that has not ended yet */
    size_t seen; /* no line ends before this */
    uint8_t hosts, lengths, encodings, unknown_expects;
    bool begun, close_said, keep_said;
} http_parser;

/* Zeroed is ready for a request.  text is all of it that has come so far, from its first byte, n of them; it may have
 * moved since the last call.  What comes out depends on the bytes alone, not on where they were cut.
 * Returns: how many bytes the head has; 0: not all is there; or minus the status to refuse it with. */
int http_parse(http_parser *p, const char *text, size_t n);

#endif
