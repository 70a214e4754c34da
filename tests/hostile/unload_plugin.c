/* A library that uses Filch and leaves work behind when it is unloaded: see unload.c. */
#include <filch/filch.h>

#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) int plugin_leave(const char *what);
__attribute__((visibility("default"))) long plugin_count(void);

/* The code and the data of a plugin that uses libfilch.so are unloaded while the work waits.  So
 * the work consists of functions of libfilch, and their arguments are on the heap.  They are called
 * as if they were bodies of fibers, which works on all supported machines. */
typedef void body(void *arg);
#define AS_BODY(function) ((body *)(void (*)(void))(function))

static void nothing(void *arg)
{
    (void)arg;
}

FILCH_TASK(long, tree, int, n)
{
    if (n == 0)
        return 1;
    FILCH_SPAWN(tree, n - 1);
    long a = FILCH_CALL(tree, n - 1);
    return FILCH_SYNC(tree) + a;
}

int plugin_leave(const char *what)
{
    if (strcmp(what, "idle") == 0)
        return FILCH_RUN(tree, 8) == 256 ? 0 : -1;
    if (strcmp(what, "waiting") == 0)
        return filch_go(AS_BODY(filch_sem_wait), calloc(1, sizeof(filch_sem)));
    if (strcmp(what, "sleeping") == 0)
        return filch_go(AS_BODY(filch_sleep), (void *)(intptr_t)FILCH_S(1000));
    if (strcmp(what, "accepting") == 0)
        return filch_go(AS_BODY(filch_accept), (void *)(intptr_t)filch_listen("127.0.0.1", 0, 4));
    if (strcmp(what, "timer") == 0)
        return filch_timer_start(calloc(1, sizeof(filch_timer)), filch_now() + FILCH_S(1000),
                                 nothing, NULL);
    return -1;
}

long plugin_count(void)
{
    return FILCH_RUN(tree, 6);
}
