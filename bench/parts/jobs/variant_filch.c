/* Filch's tasks: a task per single job, and filch_for for the loop. */
#include "variant.h"

#include <filch/algo.h>
#include <filch/task.h>

typedef void work_function(void *arg);

FILCH_VOID_TASK(one, work_function *, work, char *, arg)
{
    work(arg);
}

FILCH_VOID_TASK(single, size_t, n, work_function *, work, char *, args)
{
    for (size_t i = 0; i < n; i++)
        FILCH_SPAWN(one, work, &args[i]);
    for (size_t i = 0; i < n; i++)
        FILCH_SYNC(one);
}

void variant_single(size_t n, work_function *work, char *args)
{
    FILCH_RUN(single, n, work, args);
}

void variant_for(size_t n, size_t leaf, void (*body)(size_t lo, size_t hi, void *ctx), void *ctx)
{
    filch_for(0, n, leaf, body, ctx);
}
