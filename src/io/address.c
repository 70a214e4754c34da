#include "io/address.h"

#include "base/mem.h"
#include "io/room.h"

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

/* ---- names ---- */

/* Who asks may leave before there is an answer, so nothing of it is on a stack. */
typedef struct look_up {
    fi_spare_call call; /* first */
    question question;
    char host[NI_MAXHOST];
} look_up;

static void forget(fi_spare_call *c)
{
    look_up *l = (look_up *)(void *)c;

    if (l->question.answer)
        freeaddrinfo(l->question.answer);
    FI_DELETE(look_up, l);
}

static look_up *new_look_up(const question *q)
{
    look_up *l = FI_NEW(look_up);

    if (!l)
        return NULL;
    l->question = *q;
    memcpy(l->host, q->host, strlen(q->host) + 1);
    l->question.host = l->host;
    l->call.call = ask;
    l->call.arg = &l->question;
    l->call.forget = forget;
    return l;
}

static int find_name(fi_spares *s, question *q, int64_t deadline)
{
    look_up *l;
    int e;

    if (strlen(q->host) >= NI_MAXHOST)
        return -ENOENT;
    l = new_look_up(q);
    if (!l)
        return -ENOMEM;
    e = fi_spares_run_until(s, &l->call, deadline);
    if (e < 0 && e != -EAGAIN)
        return e;
    if (e == 0)
        e = (int)l->call.result;
    q->answer = l->question.answer;
    l->question.answer = NULL;
    forget(&l->call);
    return e;
}

/* Numbers need no thread, and a thread needs no other. */
static int find_host(question *q, int64_t deadline)
{
    fi_runtime *rt = fi_io_fiber();
    fi_io *io;
    int e;

    q->hints.ai_flags |= AI_NUMERICHOST;
    e = (int)ask(q);
    if (e != -ENOENT || !q->host)
        return e;
    q->hints.ai_flags &= ~AI_NUMERICHOST;
    if (!rt)
        return (int)ask(q);
    e = fi_io_get(rt, &io);
    return e < 0 ? e : find_name(&io->spares, q, deadline);
}

/* ---- paths ---- */

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

int fi_addresses_find(fi_addresses *a, const char *host, int port, bool passive, int64_t deadline)
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
    e = find_host(&q, deadline);
    a->list = e == 0 ? q.answer : NULL;
    return e;
}

void fi_addresses_fini(fi_addresses *a)
{
    if (a->list && a->list != &a->own)
        freeaddrinfo(a->list);
    a->list = NULL;
}
