/* Run a child process with pipes and a deadline.  Called by programs.c and gnuplot.c. */
#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int fatal_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { FATAL_SIGNALS = sizeof fatal_signals / sizeof fatal_signals[0] };

/* The process group of the child; 0: none. */
static volatile sig_atomic_t child_group;

static void kill_child_and_exit(int number)
{
    if (child_group > 0)
        kill(-(pid_t)child_group, SIGKILL);
    signal(number, SIG_DFL);
    raise(number);
}

void child_catch_signals(void)
{
    struct sigaction action = {.sa_handler = kill_child_and_exit}, before;
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        sigaction(fatal_signals[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) /* as under nohup */
            sigaction(fatal_signals[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
}

/* No signal may come between fork and the assignment to `running`. */
static void block_signals(sigset_t *before)
{
    sigset_t fatal;
    sigemptyset(&fatal);
    for (int i = 0; i < FATAL_SIGNALS; i++)
        sigaddset(&fatal, fatal_signals[i]);
    sigprocmask(SIG_BLOCK, &fatal, before);
}

static _Noreturn void exec_child(char *const argv[], const int ends[3], const sigset_t *signals)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, signals, NULL);
    for (int i = 0; i < 3; i++)
        dup2(ends[i], i);
    execv(argv[0], argv);
    dprintf(STDERR_FILENO, "cannot be run: %s", strerror(errno));
    _exit(127);
}

static pid_t start_child(char *const argv[], const int ends[3])
{
    sigset_t before;
    block_signals(&before);
    pid_t pid = fork();
    if (pid == 0)
        exec_child(argv, ends, &before);
    if (pid > 0) {
        setpgid(pid, pid); /* in parent and child, because either can be first */
        child_group = pid;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

static long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Our end of a pipe, and the buffer for its text. */
typedef struct child_pipe {
    int fd;
    char *text;
    size_t used, capacity;
    bool full;
} child_pipe;

/* Read available text; close at the end.  Text that does not fit is dropped. */
static void read_pipe(child_pipe *e)
{
    char scrap[4096];
    size_t n_free = e->capacity - 1 - e->used;
    bool fits = n_free > 0;
    ssize_t n = read(e->fd, fits ? e->text + e->used : scrap, fits ? n_free : sizeof scrap);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        close(e->fd);
        e->fd = -1;
        return;
    }
    if (fits)
        e->used += (size_t)n;
    else
        e->full = true;
    e->text[e->used] = '\0';
}

/* Read until both pipes are closed.  Returns false at the deadline. */
static bool read_both(child_pipe pipes[2], long deadline)
{
    while (pipes[0].fd >= 0 || pipes[1].fd >= 0) {
        struct pollfd p[2] = {{pipes[0].fd, POLLIN, 0}, {pipes[1].fd, POLLIN, 0}};
        long left = deadline - now_ms();
        if (left <= 0)
            return false;
        if (poll(p, 2, left < 1000 ? (int)left : 1000) <= 0)
            continue;
        for (int i = 0; i < 2; i++)
            if (p[i].revents != 0)
                read_pipe(&pipes[i]);
    }
    return true;
}

/* A program can close its outputs and continue, so its end has the same deadline. */
static bool child_ends_in_time(pid_t pid, int *status, long deadline)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    while (waitpid(pid, status, WNOHANG) == 0) {
        if (now_ms() >= deadline)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

static void child_wait(child *c, pid_t pid, child_pipe pipes[2], long seconds)
{
    int status = 0;
    long deadline = now_ms() + seconds * 1000;
    c->timed_out = !read_both(pipes, deadline) || !child_ends_in_time(pid, &status, deadline);
    kill(-pid, SIGKILL); /* also children that it left */
    if (c->timed_out)
        waitpid(pid, &status, 0);
    child_group = 0;
    for (int i = 0; i < 2; i++)
        if (pipes[i].fd >= 0)
            close(pipes[i].fd);
    c->code = !c->timed_out && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    c->signal = !c->timed_out && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    c->is_truncated = pipes[0].full;
}

/* A descriptor from which `input` can be read, or -errno.  The text is in memory, so that no writer
 * is needed while the child reads. */
static int open_input(const char *input)
{
    if (!input)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    int fd = memfd_create("input", MFD_CLOEXEC);
    size_t length = strlen(input);
    if (fd >= 0 && (write(fd, input, length) != (ssize_t)length || lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

int child_run(child *c, char *const argv[], const char *input, long seconds)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    memset(c, 0, sizeof *c);
    int in = open_input(input);
    pid_t pid = -1;
    if (in >= 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0)
        pid = start_child(argv, (int[3]){in, out[1], err[1]});
    int e = pid < 0 ? -errno : 0;
    for (int i = 0; i < 3; i++) {
        int fd = i == 0 ? in : i == 1 ? out[1] : err[1];
        if (fd >= 0)
            close(fd);
    }
    if (pid >= 0) {
        child_pipe pipes[2] = {{out[0], c->output, 0, CHILD_OUTPUT_SIZE, false},
                               {err[0], c->errors, 0, CHILD_ERRORS_SIZE, false}};
        child_wait(c, pid, pipes, seconds);
        return 0;
    }
    if (out[0] >= 0)
        close(out[0]);
    if (err[0] >= 0)
        close(err[0]);
    return e;
}
