/* Fibers that wait in known ways until standard input ends. */
#include <filch/filch.h>

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static filch_chan *never;

static void wait_hungry(void *arg)
{
    int none;

    (void)arg;
    filch_chan_recv(never, &none);
}

static int wait_for_input(int argc, char **argv)
{
    static const filch_fiber_attr attr = {.name = "hungry"};
    int in = dup(STDIN_FILENO); /* not 0, so that dumps show it */
    char byte;

    (void)argc, (void)argv;
    never = filch_chan_new(sizeof(int), 0);
    for (int i = 0; i < 3; i++)
        filch_go_attr(&attr, wait_hungry, NULL);
    filch_yield();
    puts("ready");
    fflush(stdout);
    while (filch_read(in, &byte, 1) > 0)
        continue;
    filch_chan_close(never);
    return 0;
}

int main(int argc, char **argv)
{
    return filch_main(wait_for_input, argc, argv);
}
