/* serve: a server on loopback.  It prints its port.  For each request it computes, waits, blocks
 * and replies.  "quit" ends it. */
#include "../main_fiber.h"
#include "uses.h"

static filch_sem over;

static void answer(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char text[4];

    if (filch_read_all(fd, text, 4) == 4) {
        use_task();
        use_group();
        NEED(filch_sleep(FILCH_US(500)));
        filch_write_all(fd, text, 4);
        if (memcmp(text, "quit", 4) == 0)
            filch_sem_post(&over);
    }
    filch_close(fd);
}

static void listen_on(void *arg)
{
    int listener = (int)(intptr_t)arg;

    for (int fd; (fd = filch_accept(listener)) >= 0;)
        NEED(filch_go(answer, (void *)(intptr_t)fd));
}

static void serve(void *arg)
{
    int listener = (int)NEED(filch_listen("127.0.0.1", 0, 64));

    (void)arg;
    NEED(filch_go(listen_on, (void *)(intptr_t)listener));
    printf("%d\n", (int)NEED(filch_local_port(listener)));
    fflush(stdout);
    NEED(filch_sem_wait(&over));
    NEED(filch_close(listener));
}

int main(void)
{
    NEED(run_main_fiber(serve, NULL));
    puts("right");
    return 0;
}
