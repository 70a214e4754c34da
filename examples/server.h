/* What the servers here share: a fiber for each connection, and a stop by SIGINT or SIGTERM. */
#ifndef EXAMPLES_SERVER_H
#define EXAMPLES_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct server {
    const char *name;
    int port;              /* of 127.0.0.1; 0: any */
    unsigned max;          /* connections at a time, more wait; 0: as many as come */
    size_t stack_size;     /* of each fiber; 0: as all others */
    int64_t grace;         /* how long a stop may take */
    void (*begin)(void);   /* if not NULL: before all others, on a fiber */
    void (*serve)(int fd); /* on a fiber of its own; the descriptor is closed after it */
    void (*end)(void);     /* if not NULL: after all others */
} server;

/* Says on standard output where it listens, and serves until it is told to stop, and then until all have ended.
 * Returns: the program's exit code. */
int server_run(const server *s);

/* At the stop each fiber that serves is cancelled once, so that who waits looks up.  server_was_stop: was this what ended
 * a wait?  Then the fiber may wait again, but not longer than until server_stop_by(). */
bool server_stops(void);
int64_t server_stop_by(void);
bool server_was_stop(ssize_t result);

/* "name: text: what e means" on standard error, and exit(1). */
_Noreturn void server_fail(const char *name, const char *text, int e);

/* A number from lo to hi and nothing else, or exit(2) with a line that names what it should be. */
double server_number(const char *name, const char *what, const char *text, double lo, double hi);

#endif
