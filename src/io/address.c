#include "io/address.h"

#include "base/mem.h"
#include "io/io.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#define PORT_MAX 65535

typedef struct query {
    const char *host;
    char port[8];
    struct addrinfo hints, *result;
} query;

static int map_gai_error(int e, int system_error)
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

__attribute__((noinline)) static int64_t query_run(void *arg)
{
    query *q = arg;
    int e = getaddrinfo(q->host, q->port, &q->hints, &q->result);

    return map_gai_error(e, errno);
}

/* ---- names ---- */

/* The caller may leave before the lookup ends, so all of it is on the heap. */
typedef struct lookup {
    fi_blocking_call call; /* first */
    query query;
    char host[NI_MAXHOST];
} lookup;

static void lookup_free(fi_blocking_call *c)
{
    lookup *l = (lookup *)(void *)c;

    if (l->query.result)
        freeaddrinfo(l->query.result);
    FI_DELETE(lookup, l);
}

static lookup *lookup_new(const query *q)
{
    lookup *l = FI_NEW(lookup);

    if (!l)
        return NULL;
    l->query = *q;
    memcpy(l->host, q->host, strlen(q->host) + 1);
    l->query.host = l->host;
    l->call.func = query_run;
    l->call.arg = &l->query;
    l->call.release = lookup_free;
    return l;
}

static int lookup_run(fi_blocking_pool *pool, query *q, int64_t deadline)
{
    lookup *l;
    int e;

    if (strlen(q->host) >= NI_MAXHOST)
        return -ENOENT;
    l = lookup_new(q);
    if (!l)
        return -ENOMEM;
    e = fi_blocking_pool_run(pool, &l->call, deadline);
    if (e < 0 && e != -EAGAIN)
        return e;
    if (e == 0)
        e = (int)l->call.result;
    q->result = l->query.result;
    l->query.result = NULL;
    lookup_free(&l->call);
    return e;
}

/* A numeric address is resolved at once.  A thread that is not a worker resolves a name itself. */
static int resolve_host(query *q, int64_t deadline)
{
    fi_runtime *rt = fi_io_fiber_runtime();
    fi_io *io;
    int e;

    q->hints.ai_flags |= AI_NUMERICHOST;
    e = (int)query_run(q);
    if (e != -ENOENT || !q->host)
        return e;
    q->hints.ai_flags &= ~AI_NUMERICHOST;
    if (!rt)
        return (int)query_run(q);
    e = fi_io_get(rt, &io);
    return e < 0 ? e : lookup_run(&io->blocking_pool, q, deadline);
}

/* ---- paths ---- */

static int resolve_path(fi_addresses *a, const char *path)
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

int fi_addresses_resolve(fi_addresses *a, const char *host, int port, bool passive,
                         int64_t deadline)
{
    query q = {.host = host};
    int e;

    *a = (fi_addresses){0};
    if (host && strchr(host, '/'))
        return port == 0 ? resolve_path(a, host) : -EINVAL;
    if (port < 0 || port > PORT_MAX)
        return -EINVAL;
    snprintf(q.port, sizeof q.port, "%d", port);
    q.hints.ai_socktype = SOCK_STREAM;
    q.hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
    e = resolve_host(&q, deadline);
    a->list = e == 0 ? q.result : NULL;
    return e;
}

void fi_addresses_fini(fi_addresses *a)
{
    if (a->list && a->list != &a->own)
        freeaddrinfo(a->list);
    a->list = NULL;
}
