/* Runs code that is expected to end the process in a child, and reports how it ended. */
#ifndef TESTS_CHILD_H
#define TESTS_CHILD_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct child_end {
    int status;      /* as waitpid gives it */
    char text[4096]; /* its standard error, truncated */
};

/* The child has no signal handlers of test frameworks and sanitizers, and leaves no core file. */
static inline void child_run(int out, void (*fn)(void *), void *arg)
{
    const struct rlimit no_core = {0, 0};

    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
    dup2(out, STDERR_FILENO);
    fn(arg);
    _exit(0);
}

static inline void child_read_all(int fd, char *text, size_t size)
{
    size_t n = 0;
    char rest[256];

    for (;;) {
        int full = n + 1 == size;
        ssize_t r = full ? read(fd, rest, sizeof rest) : read(fd, text + n, size - 1 - n);

        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            break;
        n += full ? 0 : (size_t)r;
    }
    text[n] = '\0';
}

/* An emulator adds a line when its program is killed by a signal. */
static inline void child_drop_emulator(char *text)
{
    char *line = strstr(text, "qemu: ");

    if (line && (line == text || line[-1] == '\n'))
        *line = '\0';
}

/* 0, or -errno if there is no child. */
static inline int child_end_of(struct child_end *end, void (*fn)(void *), void *arg)
{
    int ends[2];

    *end = (struct child_end){.status = -1};
    fflush(NULL);
    if (pipe(ends) != 0)
        return -errno;
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0)
        child_run(ends[1], fn, arg);
    close(ends[1]);
    child_read_all(ends[0], end->text, sizeof end->text);
    close(ends[0]);
    child_drop_emulator(end->text);
    return waitpid(pid, &end->status, 0) == pid ? 0 : -errno;
}

/* ---- misuse that aborts ---- */

static inline void child_call(void *fn)
{
    (*(void (**)(void))fn)();
}

/* True if the function aborts after printing one line that contains this text. */
static inline bool aborts_with(void (*fn)(void), const char *part)
{
    struct child_end end;
    bool ok = child_end_of(&end, child_call, &fn) == 0 && WIFSIGNALED(end.status) &&
              WTERMSIG(end.status) == SIGABRT && strstr(end.text, part) != NULL &&
              strchr(end.text, '\n') == end.text + strlen(end.text) - 1;

    if (!ok)
        fprintf(stderr, "status %#x, output: %s\n", (unsigned)end.status, end.text);
    return ok;
}

#endif
