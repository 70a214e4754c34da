/* share CALL KIND: use a descriptor that another process shares, and check that it is unchanged.
 * CALL: read or write.  KIND: pipe, socket, tty.  The child uses it and exits.  The parent checks
 * the flags. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../main_fiber.h"
#include "victim.h"

#include <filch/filch.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

static int shared;

static void read_it(void *arg)
{
    char c;

    (void)arg;
    MUST(filch_read_until(shared, &c, 1, filch_now() + FILCH_MS(5)) == -ETIMEDOUT);
}

static void write_it(void *arg)
{
    (void)arg;
    MUST(NEED(filch_write_all(shared, "hello", 5)) == 5);
}

static void open_both(const char *kind, int fd[2])
{
    if (strcmp(kind, "pipe") == 0) {
        NEED(pipe(fd) < 0 ? -errno : 0);
    } else if (strcmp(kind, "socket") == 0) {
        NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0 ? -errno : 0);
    } else {
        fd[1] = posix_openpt(O_RDWR | O_NOCTTY);
        if (fd[1] < 0 || grantpt(fd[1]) < 0 || unlockpt(fd[1]) < 0 ||
            (fd[0] = open(ptsname(fd[1]), O_RDWR | O_NOCTTY)) < 0) {
            fprintf(stderr, "cannot open a terminal: %s\n", strerror(errno));
            exit(77);
        }
    }
}

int main(int argc, char **argv)
{
    int fd[2], status = 0;

    if (argc != 3)
        return 2;
    bool reads = strcmp(argv[1], "read") == 0;
    open_both(argv[2], fd);
    shared = fd[reads || strcmp(argv[2], "tty") == 0 ? 0 : 1];
    int before = fcntl(shared, F_GETFL);
    pid_t child = fork();
    NEED(child < 0 ? -errno : 0);
    if (child == 0) {
        NEED(run_main_fiber(reads ? read_it : write_it, NULL));
        exit(0);
    }
    NEED(waitpid(child, &status, 0) < 0 ? -errno : 0);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    MUST(fcntl(shared, F_GETFL) == before);
    puts("right");
    return 0;
}
