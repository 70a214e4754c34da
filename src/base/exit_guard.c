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
static _Thread_local void (*on_exit_call)(void) __attribute__((tls_model("initial-exec")));

static void run_on_exit(void *unused)
{
    (void)unused;
    if (on_exit_call)
        on_exit_call();
}

/* The number of keys of a process is limited.  Without a key a thread that ends is not reported. */
static void create_key(void)
{
    has_key = pthread_key_create(&key, run_on_exit) == 0;
}

void fi_exit_guard_init(void)
{
    pthread_once(&once, create_key);
}

void fi_exit_guard_set(void (*ended)(void))
{
    if (on_exit_call == ended || !has_key)
        return;
    on_exit_call = ended;
    pthread_setspecific(key, &key);
}
