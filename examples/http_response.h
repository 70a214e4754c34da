/* The responses of httpd, formatted once at the start. */
#ifndef EXAMPLES_HTTP_RESPONSE_H
#define EXAMPLES_HTTP_RESPONSE_H

#include <stdbool.h>
#include <sys/uio.h>

typedef enum http_connection {
    HTTP_CONNECTION_NONE, /* no Connection field: HTTP/1.1 keeps the connection */
    HTTP_CONNECTION_CLOSE,
    HTTP_CONNECTION_KEEP_ALIVE, /* for HTTP/1.0 */
} http_connection;

/* Format all responses.  Call once, before http_response. */
void http_responses_init(void);

/* The response for this status, or 400 if the status is unknown.  head: without the body. */
struct iovec http_response(int status, http_connection connection, bool head);

#endif
