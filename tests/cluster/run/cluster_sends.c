/* Messages that the transport refuses are sent later, in order. */
#include "check.h"

#include "run/sends.h"

#include <errno.h>

enum { MESSAGES = 1000 };

static unsigned accepts; /* number of messages before the next refusal */
static int refusal = -EAGAIN;
static uint64_t n_sent;

static int stub_send(unsigned to, fi_packet *p)
{
    if (accepts == 0)
        return refusal;
    accepts--;
    CHECK_INT(p->head.a, n_sent);
    CHECK_INT(to, n_sent % 7);
    n_sent++;
    fi_packet_free(p);
    return 0;
}

static const fi_transport stub = {.send = stub_send};

static void push(fi_sends *s, uint64_t number)
{
    fi_packet *p = fi_packet_new(0);

    CHECK(p);
    p->head.a = number;
    CHECK_INT(fi_sends_push(s, (unsigned)(number % 7), p), 0);
}

static void messages_keep_their_order(void **state)
{
    fi_sends s = {.net = &stub};

    (void)state;
    for (uint64_t i = 0; i < MESSAGES; i++) {
        accepts += i % 3 == 0 ? 2 : 0;
        push(&s, i);
        if (i % 50 == 0)
            CHECK_INT(fi_sends_flush(&s), 0);
        CHECK(n_sent + s.n == i + 1);
    }
    CHECK(s.n > 64);
    accepts = MESSAGES;
    CHECK_INT(fi_sends_flush(&s), 0);
    CHECK_INT(n_sent, MESSAGES);
    CHECK_INT(s.n, 0);
    fi_sends_fini(&s);
}

static void errors_are_returned(void **state)
{
    fi_sends s = {.net = &stub};
    fi_packet *p = fi_packet_new(10);

    (void)state;
    accepts = 0;
    push(&s, n_sent); /* waits */
    refusal = -EIO;
    CHECK_INT(fi_sends_flush(&s), -EIO);
    fi_sends_fini(&s);
    s.net = &stub;
    CHECK_INT(fi_sends_push(&s, 1, p), -EIO);
    fi_sends_fini(&s);
}

CHECK_MAIN(messages_keep_their_order, errors_are_returned)
