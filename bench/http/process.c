/* Start, read, measure and end the server and the load generator. */
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void become(char *const argv[], int out)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(out, STDOUT_FILENO);
    execvp(argv[0], argv);
    fprintf(stderr, "%s cannot be run: %s\n", argv[0], strerror(errno));
    _exit(127);
}

pid_t process_start(char *const argv[], int *out)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    pid_t pid = fork();
    if (pid == 0)
        become(argv, ends[1]);
    int e = errno;
    close(ends[1]);
    *out = ends[0];
    if (pid < 0)
        close(ends[0]);
    return pid < 0 ? -e : pid;
}

void process_read(int out, char *text, size_t size, char until)
{
    size_t used = 0;
    while (used + 1 < size && (used == 0 || until == '\0' || text[used - 1] != until)) {
        ssize_t n = read(out, text + used, until == '\0' ? size - 1 - used : 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    text[used] = '\0';
}

int process_wait(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* SIGTERM lets nginx stop its workers. */
void process_end(pid_t pid)
{
    kill(pid, SIGTERM);
    process_wait(pid);
}

/* ---- CPU time ---- */

/* Read a file of /proc as text.  The text is empty if the file does not exist. */
static void read_file(const char *path, char *text, size_t size)
{
    text[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    process_read(fd, text, size, '\0');
    close(fd);
}

static double own_ticks(pid_t pid)
{
    char path[64], text[1024];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    read_file(path, text, sizeof text);
    const char *after_name = strrchr(text, ')'); /* the name may contain any character */
    if (!after_name || sscanf(after_name, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                              &user, &system) != 2)
        return 0;
    return (double)user + (double)system;
}

static double ticks(pid_t pid)
{
    char path[64], text[1024];
    double sum = own_ticks(pid);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    read_file(path, text, sizeof text);
    char *end = text;
    for (long child; (child = strtol(end, &end, 10)) > 0;)
        sum += ticks((pid_t)child);
    return sum;
}

double process_cpu(pid_t pid)
{
    return ticks(pid) / (double)sysconf(_SC_CLK_TCK);
}
