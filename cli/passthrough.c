#define _GNU_SOURCE
#include "passthrough.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_RUNNABLE = 126, NOT_FOUND = 127, BY_SIGNAL = 128 };

static _Noreturn void become(char *const argv[])
{
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    execvp(argv[0], argv);
    int e = errno;
    fprintf(stderr, "filch: '%s' cannot be run: %s\n", argv[0], strerror(e));
    _exit(e == ENOENT ? NOT_FOUND : NOT_RUNNABLE);
}

static int ended(int status)
{
    return WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- signals ---- */

static volatile sig_atomic_t child;

static void pass_on(int number)
{
    kill((pid_t)child, number);
}

/* A Ctrl-C reaches the program by itself; what ends us alone is for it, too.  We hear of both by how it ends. */
enum { HEARD = 4 };
static const int heard[HEARD] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

static void listen_for(pid_t pid, struct sigaction before[HEARD])
{
    child = pid;
    for (int i = 0; i < HEARD; i++) {
        bool is_key = heard[i] == SIGINT || heard[i] == SIGQUIT;
        struct sigaction a = {.sa_handler = is_key ? SIG_IGN : pass_on};
        sigaction(heard[i], &a, &before[i]);
        if (!is_key && before[i].sa_handler == SIG_IGN)
            sigaction(heard[i], &before[i], NULL);
    }
}

static void listen_no_more(const struct sigaction before[HEARD])
{
    for (int i = 0; i < HEARD; i++)
        sigaction(heard[i], &before[i], NULL);
}

static int wait_for(pid_t pid, const sigset_t *mask)
{
    struct sigaction before[HEARD];
    int status;
    listen_for(pid, before);
    sigprocmask(SIG_SETMASK, mask, NULL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    listen_no_more(before);
    return ended(status);
}

/* What comes while it is made is kept until somebody can hear it. */
int passthrough_run(char *const argv[])
{
    sigset_t all, mask;
    fflush(NULL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    pid_t pid = fork();
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &mask, NULL);
        become(argv);
    }
    if (pid > 0)
        return wait_for(pid, &mask);
    fprintf(stderr, "filch: '%s' cannot be run: %s\n", argv[0], strerror(errno));
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return NOT_RUNNABLE;
}
