/* The answers of httpd, written once and then only pointed at. */
#ifndef EXAMPLES_HTTP_ANSWER_H
#define EXAMPLES_HTTP_ANSWER_H

#include <stdbool.h>
#include <sys/uio.h>

typedef enum http_ending {
    HTTP_SAYS_NOTHING, /* HTTP/1.1 stays connected anyway */
    HTTP_CLOSES,
    HTTP_STAYS, /* HTTP/1.0 is to be told */
} http_ending;

/* To be called once, before the other. */
void http_answers_write(void);

/* 400 for a status that it does not know.  head: without the body. */
struct iovec http_answer(int status, http_ending ending, bool head);

#endif
