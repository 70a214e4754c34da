/* echo: a server that sends back what it receives.  Each connection has a fiber.  While a fiber
 * waits for its client, its worker runs others.  tutorial/5_server.c adds deadlines and a clean stop.
 *
 *     $ ./echo 8083
 *     listening on 127.0.0.1:8083 */
#include <filch/filch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void serve(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char buf[4096];
    for (ssize_t n; (n = filch_read(fd, buf, sizeof buf)) > 0;)
        if (filch_write_all(fd, buf, (size_t)n) < 0)
            break;
    filch_close(fd);
}

static int main_fiber(int argc, char **argv)
{
    int s = filch_listen("127.0.0.1", argc > 1 ? atoi(argv[1]) : 0, 1024);
    if (s < 0)
        return fprintf(stderr, "echo: cannot listen: %s\n", strerror(-s)), 1;
    printf("listening on 127.0.0.1:%d\n", filch_local_port(s));
    fflush(stdout);
    for (;;) {
        int fd = filch_accept(s);
        if (fd < 0)
            filch_sleep(FILCH_MS(10)); /* too many open files, for example: try again */
        else if (filch_go(serve, (void *)(intptr_t)fd) < 0)
            filch_close(fd);
    }
}

int main(int argc, char **argv)
{
    return filch_main(main_fiber, argc, argv);
}
