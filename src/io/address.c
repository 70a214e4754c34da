#include "io/address.h"

#include "base/mem.h"
#include "base/message.h"
#include "base/option.h"
#include "io/io.h"

#include <filch/io.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#define PORT_MAX 65535

/* A call of getaddrinfo(3). */
typedef struct query {
    const char *host, *service;
    struct addrinfo hints, *result;
} query;

/* EAI_NODATA and EAI_ADDRFAMILY are extensions that not all headers define. */
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
    case EAI_BADFLAGS:
    case EAI_FAMILY:
    case EAI_SOCKTYPE:
        return -EINVAL;
    default:
        return -ENOENT;
    }
}

__attribute__((noinline)) static int64_t query_run(void *arg)
{
    query *q = arg;
    int e = getaddrinfo(q->host, q->service, &q->hints, &q->result);

    return map_gai_error(e, errno);
}

/* ---- names ---- */

/* The caller may leave before the lookup ends, so all of it is on the heap. */
typedef struct lookup {
    fi_blocking_call call; /* first */
    query query;
    char host[NI_MAXHOST], service[NI_MAXSERV];
} lookup;

static void lookup_free(fi_blocking_call *c)
{
    lookup *l = (lookup *)(void *)c;

    if (l->query.result)
        freeaddrinfo(l->query.result);
    FI_DELETE(lookup, l);
}

/* Copy a string that fits, or NULL. */
static const char *copy_text(char *to, const char *from)
{
    return from ? memcpy(to, from, strlen(from) + 1) : NULL;
}

static lookup *lookup_new(const query *q)
{
    lookup *l = FI_NEW(lookup);

    if (!l)
        return NULL;
    l->query = *q;
    l->query.host = copy_text(l->host, q->host);
    l->query.service = copy_text(l->service, q->service);
    l->call.func = query_run;
    l->call.arg = &l->query;
    l->call.release = lookup_free;
    return l;
}

/* No longer names exist. */
static bool fits(const query *q)
{
    return (!q->host || strlen(q->host) < NI_MAXHOST) &&
           (!q->service || strlen(q->service) < NI_MAXSERV);
}

static int lookup_run(fi_blocking_pool *pool, query *q, int64_t deadline)
{
    lookup *l;
    int e;

    if (!fits(q))
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

/* Numbers are resolved at once.  A thread that is not a worker resolves names itself. */
static int query_resolve(query *q, int64_t deadline)
{
    fi_runtime *rt = fi_io_fiber_runtime();
    int flags = q->hints.ai_flags, e;
    fi_io *io;

    q->hints.ai_flags = flags | AI_NUMERICHOST | AI_NUMERICSERV;
    e = (int)query_run(q);
    q->hints.ai_flags = flags;
    if (e != -ENOENT || (!q->host && flags & AI_NUMERICSERV))
        return e;
    if (!rt)
        return (int)query_run(q);
    e = fi_io_get(rt, &io);
    return e < 0 ? e : lookup_run(&io->blocking_pool, q, deadline);
}

/* Only these fields of the hints may be set. */
static struct addrinfo copy_hints(const struct addrinfo *hints)
{
    /* The flags that getaddrinfo(3) uses without hints. */
    struct addrinfo none = {.ai_flags = AI_V4MAPPED | AI_ADDRCONFIG};

    return !hints ? none
                  : (struct addrinfo){.ai_flags = hints->ai_flags,
                                      .ai_family = hints->ai_family,
                                      .ai_socktype = hints->ai_socktype,
                                      .ai_protocol = hints->ai_protocol};
}

int filch_getaddrinfo_until(const char *host, const char *service, const struct addrinfo *hints,
                            struct addrinfo **result, int64_t deadline)
{
    fi_wait_chaos();
    query q = {.host = host, .service = service, .hints = copy_hints(hints)};
    int e;

    if (!host && !service)
        return fi_message_invalid("filch_getaddrinfo: host and service are NULL; give one of them");
    if (!result)
        return fi_message_null("filch_getaddrinfo", "result", "a place for the list");
    e = query_resolve(&q, deadline);
    if (e == -EINVAL)
        return fi_message_invalid("filch_getaddrinfo: hints are wrong (flags %#x, family %d, type "
                                  "%d); use those of getaddrinfo(3)",
                                  (unsigned)q.hints.ai_flags, q.hints.ai_family,
                                  q.hints.ai_socktype);
    if (e == 0)
        *result = q.result;
    return e;
}

int filch_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                      struct addrinfo **result)
{
    return filch_getaddrinfo_until(host, service, hints, result, FILCH_FOREVER);
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

static int resolve_path_query(fi_addresses *a, const fi_address_query *from)
{
    if (from->type != SOCK_STREAM)
        return fi_message_invalid("%s: host is a path ('%s'); use an address or a name",
                                  from->function, from->host);
    if (from->port != 0)
        return fi_message_invalid("%s: port is not 0 for a path (%d); use 0", from->function,
                                  from->port);
    return resolve_path(a, from->host);
}

int fi_addresses_resolve(fi_addresses *a, const fi_address_query *from)
{
    char port[8];
    query q = {.host = from->host, .service = port};
    int e;

    *a = (fi_addresses){0};
    if (from->host && strchr(from->host, '/'))
        return resolve_path_query(a, from);
    if (from->port < 0 || from->port > PORT_MAX)
        return fi_message_invalid("%s: port is out of range (%d); use 0 to %d", from->function,
                                  from->port, PORT_MAX);
    snprintf(port, sizeof port, "%d", from->port);
    q.hints.ai_socktype = from->type;
    q.hints.ai_flags = AI_NUMERICSERV | (from->passive ? AI_PASSIVE : 0);
    e = query_resolve(&q, from->deadline);
    a->list = e == 0 ? q.result : NULL;
    return e;
}

void fi_addresses_fini(fi_addresses *a)
{
    if (a->list && a->list != &a->own)
        freeaddrinfo(a->list);
    a->list = NULL;
}
