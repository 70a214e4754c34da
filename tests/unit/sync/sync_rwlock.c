#include "unit/sync/helpers.h"

enum { READERS, WRITERS }; /* queues */

static int read_it(void *l)
{
    filch_rwlock_rdlock(l);
    return 0;
}

static int write_it(void *l)
{
    filch_rwlock_wrlock(l);
    return 0;
}

static int read_until_cancelled(void *l)
{
    return filch_rwlock_rdlock_until(l, NEVER);
}

static int write_until_cancelled(void *l)
{
    return filch_rwlock_wrlock_until(l, NEVER);
}

static int read_soon(void *l)
{
    return filch_rwlock_rdlock_until(l, SOON);
}

static int write_soon(void *l)
{
    return filch_rwlock_wrlock_until(l, SOON);
}

static int basics(void)
{
    filch_rwlock l = {0};

    filch_rwlock_rdlock(&l);
    SAY(filch_rwlock_try_rdlock(&l) == 0);
    SAY(filch_rwlock_rdlock_until(&l, 0) == 0);
    SAY(filch_rwlock_try_wrlock(&l) == -EAGAIN);
    SAY(filch_rwlock_wrlock_until(&l, 0) == -ETIMEDOUT);
    for (int i = 0; i < 3; i++) {
        SAY(filch_rwlock_try_wrlock(&l) == -EAGAIN);
        filch_rwlock_rdunlock(&l);
    }
    filch_rwlock_wrlock(&l);
    SAY(filch_rwlock_try_wrlock(&l) == -EAGAIN);
    SAY(filch_rwlock_try_rdlock(&l) == -EAGAIN);
    SAY(filch_rwlock_rdlock_until(&l, 0) == -ETIMEDOUT);
    filch_rwlock_wrunlock(&l);
    SAY(filch_rwlock_try_wrlock(&l) == 0);
    filch_rwlock_wrunlock(&l);
    SAY(filch_rwlock_wrlock_until(&l, 0) == 0);
    filch_rwlock_wrunlock(&l);
    return 0;
}
EVERYWHERE(basics)

static int deadline_passes(void)
{
    filch_rwlock l = {0};
    party p[4];

    filch_rwlock_wrlock(&l);
    party_start(&p[0], read_soon, &l);
    party_start(&p[1], write_soon, &l);
    party_start_thread(&p[2], read_soon, &l);
    party_start_thread(&p[3], write_soon, &l);
    for (int i = 0; i < 4; i++)
        SAY(party_end(&p[i]) == -ETIMEDOUT);
    SAY(n_waiting_in(&l, READERS) == 0 && n_waiting_in(&l, WRITERS) == 0);
    filch_rwlock_wrunlock(&l);
    SAY(filch_rwlock_try_wrlock(&l) == 0);
    return 0;
}
EVERYWHERE(deadline_passes)

static int cancelled(void)
{
    filch_rwlock l = {0};
    party p[3];

    filch_rwlock_wrlock(&l);
    party_start(&p[0], read_until_cancelled, &l);
    party_start(&p[1], read_it, &l);
    await_waiting_in(&l, READERS, 2);
    party_start(&p[2], write_until_cancelled, &l);
    await_waiting_in(&l, WRITERS, 1);
    for (int i = 0; i < 3; i++)
        filch_fiber_cancel(p[i].fiber);
    SAY(party_end(&p[0]) == -ECANCELED);
    SAY(party_end(&p[2]) == -ECANCELED);
    SAY(n_waiting_in(&l, READERS) == 1);
    filch_rwlock_wrunlock(&l);
    SAY(party_end(&p[1]) == 0);
    filch_rwlock_rdunlock(&l);
    return 0;
}
EVERYWHERE(cancelled)

/* The lock is read.  Then a writer, readers and a second writer come, and get the lock in this
 * order. */
static int writers_and_readers_alternate(void)
{
    filch_rwlock l = {0};
    party writer, reader[2], second;

    filch_rwlock_rdlock(&l);
    party_start(&writer, write_it, &l);
    await_waiting_in(&l, WRITERS, 1);
    SAY(filch_rwlock_try_rdlock(&l) == -EAGAIN); /* a waiting writer keeps it out */
    party_start(&reader[0], read_it, &l);
    party_start_thread(&reader[1], read_it, &l);
    await_waiting_in(&l, READERS, 2);
    party_start(&second, write_it, &l);
    await_waiting_in(&l, WRITERS, 2);

    filch_rwlock_rdunlock(&l);
    party_end(&writer);
    SAY(n_waiting_in(&l, READERS) == 2 && n_waiting_in(&l, WRITERS) == 1);
    filch_rwlock_wrunlock(&l);
    party_end(&reader[0]);
    party_end(&reader[1]);
    SAY(n_waiting_in(&l, WRITERS) == 1);
    filch_rwlock_rdunlock(&l);
    SAY(n_waiting_in(&l, WRITERS) == 1);
    filch_rwlock_rdunlock(&l);
    party_end(&second);
    SAY(filch_rwlock_try_rdlock(&l) == -EAGAIN);
    filch_rwlock_wrunlock(&l);
    SAY(filch_rwlock_try_wrlock(&l) == 0);
    return 0;
}
EVERYWHERE(writers_and_readers_alternate)

/* Without readers, writers get the lock one after the other. */
static int writers_alone(void)
{
    filch_rwlock l = {0};
    party p[3];

    filch_rwlock_wrlock(&l);
    for (unsigned i = 0; i < 3; i++) {
        party_start(&p[i], write_it, &l);
        await_waiting_in(&l, WRITERS, i + 1);
    }
    for (unsigned i = 0; i < 3; i++) {
        filch_rwlock_wrunlock(&l);
        party_end(&p[i]);
        SAY(n_waiting_in(&l, WRITERS) == 2 - i);
        SAY(filch_rwlock_try_rdlock(&l) == -EAGAIN);
    }
    filch_rwlock_wrunlock(&l);
    return 0;
}
EVERYWHERE(writers_alone)

/* A writer gives up.  The readers that it kept out get the lock, unless another writer waits. */
static int writer_gives_up(void)
{
    filch_rwlock l = {0};
    party writer[2], reader;

    filch_rwlock_rdlock(&l);
    party_start(&writer[0], write_until_cancelled, &l);
    party_start(&writer[1], write_until_cancelled, &l);
    await_waiting_in(&l, WRITERS, 2);
    party_start(&reader, read_it, &l);
    await_waiting_in(&l, READERS, 1);
    filch_fiber_cancel(writer[0].fiber);
    SAY(party_end(&writer[0]) == -ECANCELED);
    SAY(n_waiting_in(&l, READERS) == 1);
    filch_fiber_cancel(writer[1].fiber);
    SAY(party_end(&writer[1]) == -ECANCELED);
    SAY(party_end(&reader) == 0);
    filch_rwlock_rdunlock(&l);
    SAY(filch_rwlock_try_wrlock(&l) == -EAGAIN);
    filch_rwlock_rdunlock(&l);
    SAY(filch_rwlock_try_wrlock(&l) == 0);
    return 0;
}
EVERYWHERE(writer_gives_up)

CHECK_MAIN(test_basics, test_deadline_passes, test_cancelled, test_writers_and_readers_alternate,
           test_writers_alone, test_writer_gives_up)
