/* Addresses of sockets: host names, numeric addresses, and paths of UNIX sockets. */
#ifndef FI_IO_ADDRESS_H
#define FI_IO_ADDRESS_H

#include <netdb.h>
#include <stdbool.h>
#include <sys/socket.h>

typedef struct fi_addresses {
    struct addrinfo *list;
    struct addrinfo own; /* the only entry of the list, if the address is a path */
    struct sockaddr_storage path;
} fi_addresses;

typedef struct fi_address_query {
    const char *function; /* of the API, for messages */
    const char *host;
    int port;
    int type;     /* SOCK_STREAM or SOCK_DGRAM */
    bool passive; /* for listening */
    int64_t deadline;
} fi_address_query;

/* [any] Resolve a host and a port.  A name is resolved by a thread of the blocking pool, until the
 * deadline, if the caller is a fiber.  Only stream sockets have paths.
 * Returns 0; -ENOENT: unknown host; -EAGAIN: the lookup failed and may be repeated; -EINVAL: wrong
 * port or host, named by a message; -ENAMETOOLONG; -ENOMEM; -ETIMEDOUT; -ECANCELED. */
int fi_addresses_resolve(fi_addresses *a, const fi_address_query *query);
void fi_addresses_fini(fi_addresses *a);

#endif
