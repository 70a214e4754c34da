/* Filch as it comes: a group for single jobs, filch_for for the loop. */
#include "columns.h"

#include <filch/algo.h>
#include <filch/job.h>
#include <filch/task.h>
#include <stdlib.h>

typedef void work_function(void *arg);

FILCH_VOID_TASK(single, size_t, n, work_function *, work, char *, args)
{
    filch_group g = FILCH_GROUP_INIT;
    for (size_t i = 0; i < n; i++)
        filch_group_run(&g, work, &args[i]);
    if (filch_group_wait(&g) != 0)
        abort();
}

void column_single(size_t n, work_function *work, char *args)
{
    FILCH_RUN(single, n, work, args);
}

void column_for(size_t n, size_t leaf, void (*body)(size_t lo, size_t hi, void *ctx), void *ctx)
{
    filch_for(0, n, leaf, body, ctx);
}
