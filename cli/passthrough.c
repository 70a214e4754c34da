/* Run a program in the foreground, and forward signals to it. */
#define _GNU_SOURCE
#include "passthrough.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BY_SIGNAL = 128 };

int passthrough_exec(char *const argv[])
{
    execvp(argv[0], argv);
    int e = errno;
    fprintf(stderr, "filch: cannot run '%s': %s\n", argv[0], strerror(e));
    return e == ENOENT ? PASSTHROUGH_NOT_FOUND : PASSTHROUGH_NOT_RUNNABLE;
}

static int exit_status(int status)
{
    return WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- signals ---- */

static volatile sig_atomic_t child;

/* The terminal sends its signals to the program, too.  So only those of kill(2) are forwarded. */
static void forward_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code <= 0)
        kill((pid_t)child, number);
}

static const int forwarded[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
enum { FORWARDED = sizeof forwarded / sizeof *forwarded };

/* A signal that was ignored at the start, as under nohup, stays ignored. */
static void forward_signals(pid_t pid, struct sigaction before[FORWARDED])
{
    struct sigaction a = {.sa_sigaction = forward_signal, .sa_flags = SA_SIGINFO};
    child = pid;
    for (int i = 0; i < FORWARDED; i++) {
        sigaction(forwarded[i], &a, &before[i]);
        if (before[i].sa_handler == SIG_IGN)
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
int passthrough_run(char *const argv[], pid_t *pid_out)
{
    sigset_t all, mask;
    fflush(NULL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    pid_t pid = fork();
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &mask, NULL);
        _exit(passthrough_exec(argv));
    }
    if (pid_out)
        *pid_out = pid;
    if (pid > 0)
        return wait_for(pid, &mask);
    fprintf(stderr, "filch: cannot run '%s': %s\n", argv[0], strerror(errno));
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return PASSTHROUGH_NOT_RUNNABLE;
}
