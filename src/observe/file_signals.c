/* Block SIGPIPE and SIGXFSZ while output.c writes. */
#include "observe/file_signals.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

static const int numbers[] = {SIGPIPE, SIGXFSZ};

enum { NUMBERS = sizeof numbers / sizeof *numbers };

void fi_file_signals_block(fi_file_signals *s)
{
    sigset_t set;

    sigemptyset(&set);
    for (int i = 0; i < NUMBERS; i++)
        sigaddset(&set, numbers[i]);
    sigpending(&s->pending);
    pthread_sigmask(SIG_BLOCK, &set, &s->mask);
}

static void take(int number)
{
    const struct timespec none = {0};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, number);
    while (sigtimedwait(&set, NULL, &none) < 0 && errno == EINTR)
        ;
}

void fi_file_signals_unblock(const fi_file_signals *s)
{
    sigset_t now;

    sigpending(&now);
    for (int i = 0; i < NUMBERS; i++)
        if (sigismember(&now, numbers[i]) && !sigismember(&s->pending, numbers[i]))
            take(numbers[i]);
    pthread_sigmask(SIG_SETMASK, &s->mask, NULL);
}
