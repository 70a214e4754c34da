#include "through.h"

#include <errno.h>
#include <signal.h>
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

/* A Ctrl-C is for the program: we hear of it by how that ends. */
int through_run(char *const argv[])
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        fprintf(stderr, "filch: '%s' cannot be run: %s\n", argv[0], strerror(errno));
        return NOT_RUNNABLE;
    }
    if (pid == 0)
        become(argv);
    void (*interrupt)(int) = signal(SIGINT, SIG_IGN), (*quit)(int) = signal(SIGQUIT, SIG_IGN);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    signal(SIGINT, interrupt);
    signal(SIGQUIT, quit);
    return ended(status);
}
