/* Run a program in the foreground, and forward signals to it.  Called by scale.c. */
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

static _Noreturn void exec_program(char *const argv[])
{
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    execvp(argv[0], argv);
    int e = errno;
    fprintf(stderr, "filch: cannot run '%s': %s\n", argv[0], strerror(e));
    _exit(e == ENOENT ? NOT_FOUND : NOT_RUNNABLE);
}

static int exit_status(int status)
{
    return WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- signals ---- */

static volatile sig_atomic_t child;

static void forward_signal(int number)
{
    kill((pid_t)child, number);
}

/* The terminal sends Ctrl-C to the program, too, so we ignore it.  Signals sent to us alone are
 * forwarded. */
enum { FORWARDED = 4 };
static const int forwarded[FORWARDED] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

static void forward_signals(pid_t pid, struct sigaction before[FORWARDED])
{
    child = pid;
    for (int i = 0; i < FORWARDED; i++) {
        bool is_key = forwarded[i] == SIGINT || forwarded[i] == SIGQUIT;
        struct sigaction a = {.sa_handler = is_key ? SIG_IGN : forward_signal};
        sigaction(forwarded[i], &a, &before[i]);
        if (!is_key && before[i].sa_handler == SIG_IGN)
            sigaction(forwarded[i], &before[i], NULL);
    }
}

static void restore_signals(const struct sigaction before[FORWARDED])
{
    for (int i = 0; i < FORWARDED; i++)
        sigaction(forwarded[i], &before[i], NULL);
}

static int wait_for(pid_t pid, const sigset_t *mask)
{
    struct sigaction before[FORWARDED];
    int status;
    forward_signals(pid, before);
    sigprocmask(SIG_SETMASK, mask, NULL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    restore_signals(before);
    return exit_status(status);
}

/* Signals are blocked until they can be forwarded. */
int passthrough_run(char *const argv[])
{
    sigset_t all, mask;
    fflush(NULL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    pid_t pid = fork();
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &mask, NULL);
        exec_program(argv);
    }
    if (pid > 0)
        return wait_for(pid, &mask);
    fprintf(stderr, "filch: cannot run '%s': %s\n", argv[0], strerror(errno));
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return NOT_RUNNABLE;
}
