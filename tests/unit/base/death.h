/* Runs code that aborts in a child process and checks its last message. */
#ifndef TESTS_UNIT_BASE_DEATH_H
#define TESTS_UNIT_BASE_DEATH_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static inline void death_child(void (*mistake)(void), int err)
{
    struct rlimit none = {0, 0};

    setrlimit(RLIMIT_CORE, &none);
    signal(SIGABRT, SIG_DFL);
    dup2(err, STDERR_FILENO);
    mistake();
    _exit(0);
}

static inline void death_read(int fd, char *text, size_t size)
{
    size_t used = 0;

    for (ssize_t n; used < size - 1 && (n = read(fd, text + used, size - 1 - used)) > 0;)
        used += (size_t)n;
    text[used] = '\0';
}

/* An emulator adds a line when its program is killed by a signal. */
static inline void death_cut_emulator(char *text)
{
    char *line = strstr(text, "\nqemu: ");

    if (line != NULL)
        line[1] = '\0';
}

/* True if the call aborts after printing one line that contains this text. */
static inline bool aborts_with(void (*mistake)(void), const char *part)
{
    char text[1024];
    int pipe_fd[2], status = 0;

    fflush(NULL);
    if (pipe(pipe_fd) != 0)
        return false;
    pid_t child = fork();
    if (child == 0)
        death_child(mistake, pipe_fd[1]);
    close(pipe_fd[1]);
    death_read(pipe_fd[0], text, sizeof text);
    close(pipe_fd[0]);
    death_cut_emulator(text);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    bool ok = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(text, part) != NULL &&
              strchr(text, '\n') == text + strlen(text) - 1;
    if (!ok)
        fprintf(stderr, "status %#x, output: %s\n", (unsigned)status, text);
    return ok;
}

#endif
