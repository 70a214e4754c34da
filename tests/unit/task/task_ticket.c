/* A ticket that its fiber claimed back is freed by the worker that takes it out of a deque.  That
 * worker may reuse the record for another object and write plain fields over the ticket's state.
 * Only the ticket orders the two threads here, so ThreadSanitizer reports the write if the ticket
 * does not. */
#include "base/record_pool.h"
#include "check.h"
#include "task/ticket.h"

#include <pthread.h>
#include <string.h>

enum { PUBLISHED = 1, CLAIMED };

static union {
    fi_ticket ticket;
    char bytes[sizeof(fi_record)];
} record;
static FI_ATOMIC(int) step;

static void wait_for(int wanted)
{
    while (fi_load_relaxed(&step) != wanted)
        fi_thread_yield();
}

static void *free_and_reuse(void *arg)
{
    (void)arg;
    wait_for(CLAIMED); /* relaxed: it orders nothing */
    CHECK(!fi_ticket_start(&record.ticket));
    memset(record.bytes, 1, sizeof record.bytes);
    return NULL;
}

static void test_claimed_ticket_is_reused(void **state)
{
    pthread_t thief;

    (void)state;
    fi_store_relaxed(&step, PUBLISHED);
    fi_ticket_init(&record.ticket, NULL);
    CHECK_INT(pthread_create(&thief, NULL, free_and_reuse, NULL), 0);
    CHECK(fi_ticket_claim_back(&record.ticket));
    fi_store_relaxed(&step, CLAIMED);
    CHECK_INT(pthread_join(thief, NULL), 0);
}

static void test_started_ticket_is_not_claimed(void **state)
{
    (void)state;
    fi_ticket_init(&record.ticket, NULL);
    CHECK(fi_ticket_start(&record.ticket));
    CHECK(!fi_ticket_claim_back(&record.ticket));
    CHECK(fi_ticket_finish(&record.ticket) == NULL);
    CHECK(fi_ticket_is_done(&record.ticket));
}

CHECK_MAIN(test_claimed_ticket_is_reused, test_started_ticket_is_not_claimed)
