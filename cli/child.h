/* Run a program and hear what it says: it can neither outlive nor hang the one who called it. */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <stdbool.h>

enum { CHILD_SAYS = 1 << 18, CHILD_COMPLAINS = 1 << 12 };

typedef struct child {
    int code;                                           /* exit code, or -1 where there is none */
    int signal;                                         /* that ended it, or 0 */
    bool late;                                          /* was ended because its time was up */
    bool silenced;                                      /* said more than there is capacity for */
    char said[CHILD_SAYS], complained[CHILD_COMPLAINS]; /* its two outputs */
} child;

/* Run argv[0], a path, with `input` (NULL: nothing) on its standard input, and wait for its end, at
 * most `seconds`.  0 or -errno. */
int child_run(child *c, char *const argv[], const char *input, long seconds);

/* From here on, a signal that ends this program ends the child first. */
void child_catch_signals(void);

#endif
