#include "io/address.h"

#include <filch/io.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#define PORT_MAX 65535

typedef struct question {
    const char *host;
    char port[8];
    struct addrinfo hints, *answer;
} question;

static int understand(int e, int system_error)
{
    switch (e) {
    case 0:
        return 0;
    case EAI_SYSTEM:
        return -system_error;
    case EAI_MEMORY:
        return -ENOMEM;
    case EAI_AGAIN:
    case EAI_FAIL:
        return -EAGAIN;
    default:
        return -ENOENT;
    }
}

__attribute__((noinline)) static int64_t ask(void *arg)
{
    question *q = arg;
    int e = getaddrinfo(q->host, q->port, &q->hints, &q->answer);

    return understand(e, errno);
}

/* Numbers need no thread. */
static int find_host(question *q)
{
    int e;

    q->hints.ai_flags |= AI_NUMERICHOST;
    e = (int)ask(q);
    if (e != -ENOENT || !q->host)
        return e;
    q->hints.ai_flags &= ~AI_NUMERICHOST;
    return (int)filch_blocking(ask, q);
}

static int find_path(fi_addresses *a, const char *path)
{
    struct sockaddr_un *un = (struct sockaddr_un *)(void *)&a->path;
    size_t n = strlen(path);

    if (n >= sizeof un->sun_path)
        return -ENAMETOOLONG;
    un->sun_family = AF_UNIX;
    memcpy(un->sun_path, path, n + 1);
    a->own = (struct addrinfo){.ai_family = AF_UNIX,
                               .ai_socktype = SOCK_STREAM,
                               .ai_addr = (struct sockaddr *)&a->path,
                               .ai_addrlen = sizeof *un};
    a->list = &a->own;
    return 0;
}

int fi_addresses_find(fi_addresses *a, const char *host, int port, bool passive)
{
    question q = {.host = host};
    int e;

    *a = (fi_addresses){0};
    if (host && strchr(host, '/'))
        return port == 0 ? find_path(a, host) : -EINVAL;
    if (port < 0 || port > PORT_MAX)
        return -EINVAL;
    snprintf(q.port, sizeof q.port, "%d", port);
    q.hints.ai_socktype = SOCK_STREAM;
    q.hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
    e = find_host(&q);
    a->list = e == 0 ? q.answer : NULL;
    return e;
}

void fi_addresses_fini(fi_addresses *a)
{
    if (a->list && a->list != &a->own)
        freeaddrinfo(a->list);
    a->list = NULL;
}
