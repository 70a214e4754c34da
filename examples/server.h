/* Frame of the example servers: one fiber per connection, and a stop on SIGINT or SIGTERM. */
#ifndef EXAMPLES_SERVER_H
#define EXAMPLES_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct server {
    const char *name;
    int port;              /* on 127.0.0.1; 0: any free port */
    unsigned max;          /* max connections; further ones wait; 0: unlimited */
    size_t stack_size;     /* default stack size of fibers; 0: that of the runtime */
    int64_t grace;         /* max duration of the stop, ns */
    void (*begin)(void);   /* may be NULL; called first, on a fiber */
    void (*serve)(int fd); /* called on a new fiber; fd is closed when it returns */
    void (*end)(void);     /* may be NULL; called last */
} server;

/* Run the server.  It prints its address, and serves until it is stopped and all connections
 * have ended.  Returns: the exit code of the program. */
int server_run(const server *s);

/* At the stop, the group of the connections is cancelled, which interrupts their waits. 
 * server_stop_interrupted(result) tells whether that happened; the fiber may then wait again,
 * but not beyond server_stop_by(). */
bool server_is_stopping(void);
int64_t server_stop_by(void);
bool server_stop_interrupted(ssize_t result);

/* Print "name: text: strerror(-e)" to standard error and exit(1). */
_Noreturn void server_fail(const char *name, const char *text, int e);

/* Parse a number from lo to hi.  Otherwise print an error and exit(2). */
double server_number(const char *name, const char *what, const char *text, double lo, double hi);

#endif
