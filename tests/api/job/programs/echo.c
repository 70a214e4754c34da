/* An echo server, whose connections are a group.  Two clients get an answer.  A third one sends
 * nothing: the end of the server interrupts its connection. */
#include <filch/filch.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int serve(void *arg) /* an error ends the group's other connections, too */
{
    int fd = (int)(intptr_t)arg;
    char buf[4096];
    ssize_t n;

    while ((n = filch_read_until(fd, buf, sizeof buf, filch_now() + FILCH_S(30))) > 0)
        filch_write_all(fd, buf, (size_t)n);
    filch_close(fd);
    return n < 0 && n != -ETIMEDOUT && n != -ECONNRESET ? (int)n : 0;
}

static void talk(void *port)
{
    char answer[5] = "";
    int fd = filch_connect("127.0.0.1", (int)(intptr_t)port);

    filch_write_all(fd, "hello", 5);
    if (filch_read_all(fd, answer, 5) == 5 && memcmp(answer, "hello", 5) == 0)
        puts("hello");
    filch_close(fd);
}

static void be_silent(void *port)
{
    char byte;
    int fd = filch_connect("127.0.0.1", (int)(intptr_t)port);

    if (filch_read(fd, &byte, 1) == 0)
        puts("end");
    filch_close(fd);
}

static int main_fiber(int argc, char **argv)
{
    filch_group conns = FILCH_GROUP_INIT, clients = FILCH_GROUP_INIT;
    int s = filch_listen("127.0.0.1", 0, 1024), e;
    void *port = (void *)(intptr_t)filch_local_port(s);

    (void)argc, (void)argv;
    filch_group_run(&clients, talk, port);
    filch_group_run(&clients, talk, port);
    filch_group_run(&clients, be_silent, port);
    for (int fd; (fd = filch_accept_until(s, filch_now() + FILCH_MS(300))) >= 0;)
        filch_group_run_fallible(&conns, serve, (void *)(intptr_t)fd);
    filch_group_cancel(&conns); /* interrupts what the members wait for */
    filch_close(s);
    e = filch_group_wait(&conns);
    filch_group_wait(&clients);
    return e == -ECANCELED ? 0 : 1;
}

int main(int argc, char **argv)
{
    return filch_main(main_fiber, argc, argv);
}
