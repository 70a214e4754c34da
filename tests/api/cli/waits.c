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

static void wait_for_input(void *arg)
{
    static const filch_fiber_attr attr = {.name = "hungry"};
    char byte;

    (void)arg;
    never = filch_chan_new(sizeof(int), 0);
    for (int i = 0; i < 3; i++)
        filch_go_attr(&attr, wait_hungry, NULL);
    filch_yield();
    puts("ready");
    fflush(stdout);
    while (filch_read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    filch_chan_close(never);
}

int main(void)
{
    return filch_main(wait_for_input, NULL);
}
