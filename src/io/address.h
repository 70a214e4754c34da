/* Addresses, by name or number, and the paths of UNIX sockets. */
#ifndef FI_IO_ADDRESS_H
#define FI_IO_ADDRESS_H

#include <netdb.h>
#include <stdbool.h>
#include <sys/socket.h>

typedef struct fi_addresses {
    struct addrinfo *list;
    struct addrinfo own; /* of a path */
    struct sockaddr_storage path;
} fi_addresses;

/* [any] Find the addresses of a host; a fiber has names asked for in a spare thread, until the deadline.  passive: to
 * listen at.
 * 0; -ENOENT: not known; -EAGAIN: could not be found out; -EINVAL: nonsense; -ENAMETOOLONG; -ENOMEM; -ETIMEDOUT;
 * -ECANCELED. */
int fi_addresses_resolve(fi_addresses *a, const char *host, int port, bool passive,
                         int64_t deadline);
void fi_addresses_fini(fi_addresses *a);

#endif
