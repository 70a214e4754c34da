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

/* [any] Find the addresses of a host; names are asked for in a spare thread.  passive: to listen at.
 * 0; -ENOENT: not known; -EAGAIN: could not be found out; -EINVAL: nonsense; -ENAMETOOLONG; -ENOMEM. */
int fi_addresses_find(fi_addresses *a, const char *host, int port, bool passive);
void fi_addresses_fini(fi_addresses *a);

#endif
