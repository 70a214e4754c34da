#include "http_answer.h"

#include <stdio.h>
#include <string.h>

typedef struct answer {
    int status;
    const char *reason, *field, *body;
    struct {
        char text[256];
        size_t head, n;
    } with[3]; /* each ending */
} answer;

static const char *const endings[] = {"", "Connection: close\r\n", "Connection: keep-alive\r\n"};

static answer answers[] = {
    {.status = 200, .reason = "OK", .field = "", .body = "Hello, world!"},
    {.status = 404, .reason = "Not Found", .field = "", .body = "There is only /.\n"},
    {.status = 405, .reason = "Method Not Allowed", .field = "Allow: GET, HEAD\r\n", .body = ""},
    {.status = 408, .reason = "Request Timeout", .field = "", .body = ""},
    {.status = 413, .reason = "Content Too Large", .field = "", .body = ""},
    {.status = 417, .reason = "Expectation Failed", .field = "", .body = ""},
    {.status = 431, .reason = "Request Header Fields Too Large", .field = "", .body = ""},
    {.status = 501, .reason = "Not Implemented", .field = "", .body = ""},
    {.status = 505, .reason = "HTTP Version Not Supported", .field = "", .body = ""},
    {.status = 400, .reason = "Bad Request", .field = "", .body = ""}, /* the last */
};

#define ANSWERS (sizeof answers / sizeof *answers)

static void write_answer(answer *a, int ending)
{
    int n =
        snprintf(a->with[ending].text, sizeof a->with[ending].text,
                 "HTTP/1.1 %d %s\r\n%s%sContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n%s",
                 a->status, a->reason, a->field, endings[ending], strlen(a->body), a->body);

    a->with[ending].n = (size_t)n;
    a->with[ending].head = (size_t)n - strlen(a->body);
}

void http_answers_write(void)
{
    for (answer *a = answers; a < answers + ANSWERS; a++)
        for (int ending = 0; ending < 3; ending++)
            write_answer(a, ending);
}

struct iovec http_answer(int status, http_ending ending, bool head)
{
    answer *a = answers;

    while (a->status != status && a < answers + ANSWERS - 1)
        a++;
    return (struct iovec){a->with[ending].text, head ? a->with[ending].head : a->with[ending].n};
}
