/* Step 5: an echo server that closes silent connections and stops cleanly on a signal. */
#include <filch/filch.h>
#include <signal.h>
#include <stdio.h>

static filch_group all = FILCH_GROUP_INIT;

static void serve(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char buf[4096];
    for (ssize_t n; (n = filch_read_until(fd, buf, sizeof buf, filch_now() + FILCH_S(5))) > 0;)
        if (filch_write_all_until(fd, buf, (size_t)n, filch_now() + FILCH_S(5)) < 0)
            break;
    filch_close(fd);
}

static void accept_all(void *s)
{
    for (int fd; !filch_group_is_cancelled(&all);)
        if ((fd = filch_accept(*(int *)s)) < 0)
            filch_sleep(FILCH_MS(10)); /* cancelled, or too many open files */
        else if (filch_group_run(&all, serve, (void *)(intptr_t)fd) < 0)
            filch_close(fd);
}

int main(void)
{
    sigset_t stop;
    sigemptyset(&stop), sigaddset(&stop, SIGINT), sigaddset(&stop, SIGTERM);
    sigprocmask(SIG_BLOCK, &stop, NULL); /* before Filch starts its threads */
    int s = filch_listen("127.0.0.1", 0, 1024);
    if (s < 0 || filch_group_run(&all, accept_all, &s) < 0)
        return 1;
    printf("listening on 127.0.0.1:%d\n", filch_local_port(s)), fflush(stdout);
    filch_signal_wait(&stop, FILCH_FOREVER);
    filch_group_cancel(&all);
    filch_group_wait(&all);
    return puts("stopped") < 0 || filch_close(s) < 0;
}
