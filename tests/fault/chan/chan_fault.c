/* A select of many cases allocates memory to wait.  Without memory it returns -ENOMEM and leaves no
 * arm in a queue. */
#include "check.h"

#include "fault/inject.h"

#include <errno.h>
#include <filch/chan.h>

static int wait_in_vain(void *chan)
{
    filch_case cases[FILCH_SELECT_MAX];
    int e;

    for (size_t i = 0; i < FILCH_SELECT_MAX; i++)
        cases[i] = (filch_case)FILCH_CASE_RECV(chan, NULL);
    e = filch_select_until(cases, FILCH_SELECT_MAX, 0);
    return e == -ETIMEDOUT ? 0 : e;
}

static int select_of_many(void *arg)
{
    filch_chan *c = filch_chan_new(sizeof(int), 1);
    int e, item = 1;

    (void)arg;
    if (!c)
        return -ENOMEM;
    e = wait_in_vain(c);
    if (filch_chan_try_send(c, &item) < 0 || filch_chan_try_recv(c, &item) < 0)
        e = -EPROTO; /* an arm left in the queue took the item */
    filch_chan_free(c);
    return e;
}

static void many_cases_fail_cleanly(void **state)
{
    (void)state;
    CHECK_INT(inject_every(select_of_many, NULL), 2); /* the channel and the arms */
}

CHECK_MAIN(many_cases_fail_cleanly)
