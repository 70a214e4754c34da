#include "base/at_fork.h"

#include <pthread.h>
#include <stddef.h>

static struct {
    fi_lock *lock;
    void (*child)(void);
} parts[FI_FORK_PARTS];

static unsigned depth; /* written in a child, before it can have a second thread */

void fi_at_fork(fi_fork_part part, fi_lock *lock, void (*child)(void))
{
    parts[part].lock = lock;
    parts[part].child = child;
}

unsigned fi_fork_depth(void)
{
    return depth;
}

fi_lock *fi_at_fork_lock(fi_fork_part part)
{
    return parts[part].lock;
}

static void before_fork(void)
{
    for (int i = 0; i < FI_FORK_PARTS; i++)
        if (parts[i].lock)
            fi_lock_lock(parts[i].lock);
}

static void after_fork(void)
{
    for (int i = FI_FORK_PARTS; i-- > 0;)
        if (parts[i].lock)
            fi_lock_unlock(parts[i].lock);
}

static void after_fork_in_child(void)
{
    depth++;
    after_fork();
    for (int i = 0; i < FI_FORK_PARTS; i++)
        if (parts[i].child)
            parts[i].child();
}

/* Registered before the handlers of the program.  So those run first before a fork and last after
 * it, and may use Filch.  In a static library the constructors of the program would come first
 * without the priority. */
#define FIRST_PRIORITY 101 /* lower ones belong to the compiler */

__attribute__((constructor(FIRST_PRIORITY))) static void install(void)
{
    (void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
}
