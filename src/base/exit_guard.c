/* Uses the destructor of a thread-specific value.  It runs after pthread_exit and after a
 * cancellation, however much of the stack was unwound.  A cleanup handler would not work, because
 * the stack of a fiber is unwound and not that of the thread. */
#include "base/exit_guard.h"

#include <pthread.h>
#include <stdbool.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

/* Checked first, because pthread_setspecific costs more.  Initial-exec: the first use does not
 * allocate. */
static _Thread_local void (*set)(void) __attribute__((tls_model("initial-exec")));

static void call_ended(void *unused)
{
    (void)unused;
    if (set)
        set();
}

/* The number of keys of a process is limited.  Without a key the mistake is not reported. */
static void make_key(void)
{
    has_key = pthread_key_create(&key, call_ended) == 0;
}

void fi_exit_guard_init(void)
{
    pthread_once(&once, make_key);
}

void fi_exit_guard_set(void (*ended)(void))
{
    if (set == ended || !has_key)
        return;
    set = ended;
    pthread_setspecific(key, &key);
}
