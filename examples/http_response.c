/* Format the responses of httpd. */
#include "http_response.h"

#include <stdio.h>
#include <string.h>

typedef struct response {
    int status;
    const char *reason, *field, *body;
    struct {
        char text[256];
        size_t head, n;
    } with[3]; /* by http_connection */
} response;

static const char *const connection_fields[] = {"", "Connection: close\r\n",
                                                "Connection: keep-alive\r\n"};

static response responses[] = {
    {.status = 200, .reason = "OK", .field = "", .body = "Hello, world!"},
    {.status = 404, .reason = "Not Found", .field = "", .body = "There is only /.\n"},
    {.status = 405, .reason = "Method Not Allowed", .field = "Allow: GET, HEAD\r\n", .body = ""},
    {.status = 408, .reason = "Request Timeout", .field = "", .body = ""},
    {.status = 413, .reason = "Content Too Large", .field = "", .body = ""},
    {.status = 417, .reason = "Expectation Failed", .field = "", .body = ""},
    {.status = 431, .reason = "Request Header Fields Too Large", .field = "", .body = ""},
    {.status = 501, .reason = "Not Implemented", .field = "", .body = ""},
    {.status = 505, .reason = "HTTP Version Not Supported", .field = "", .body = ""},
    {.status = 400,
     .reason = "Bad Request",
     .field = "",
     .body = ""}, /* must be last: the default */
};

#define RESPONSES (sizeof responses / sizeof *responses)

static void write_response(response *a, int connection)
{
    int n = snprintf(
        a->with[connection].text, sizeof a->with[connection].text,
        "HTTP/1.1 %d %s\r\n%s%sContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n%s",
        a->status, a->reason, a->field, connection_fields[connection], strlen(a->body), a->body);

    a->with[connection].n = (size_t)n;
    a->with[connection].head = (size_t)n - strlen(a->body);
}

void http_responses_init(void)
{
    for (response *a = responses; a < responses + RESPONSES; a++)
        for (int connection = 0; connection < 3; connection++)
            write_response(a, connection);
}

struct iovec http_response(int status, http_connection connection, bool head)
{
    response *a = responses;

    while (a->status != status && a < responses + RESPONSES - 1)
        a++;
    return (struct iovec){a->with[connection].text,
                          head ? a->with[connection].head : a->with[connection].n};
}
