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
    EXPECT(filch_rwlock_try_rdlock(&l) == 0);
    EXPECT(filch_rwlock_rdlock_until(&l, 0) == 0);
    EXPECT(filch_rwlock_try_wrlock(&l) == -EAGAIN);
    EXPECT(filch_rwlock_wrlock_until(&l, 0) == -ETIMEDOUT);
    for (int i = 0; i < 3; i++) {
        EXPECT(filch_rwlock_try_wrlock(&l) == -EAGAIN);
        filch_rwlock_rdunlock(&l);
    }
    filch_rwlock_wrlock(&l);
    EXPECT(filch_rwlock_try_wrlock(&l) == -EAGAIN);
    EXPECT(filch_rwlock_try_rdlock(&l) == -EAGAIN);
    EXPECT(filch_rwlock_rdlock_until(&l, 0) == -ETIMEDOUT);
    filch_rwlock_wrunlock(&l);
    EXPECT(filch_rwlock_try_wrlock(&l) == 0);
    filch_rwlock_wrunlock(&l);
    EXPECT(filch_rwlock_wrlock_until(&l, 0) == 0);
    filch_rwlock_wrunlock(&l);
    return 0;
}
EVERYWHERE(basics)

static int deadline_passes(void)
{
    filch_rwlock l = {0};
    async_call p[4];

    filch_rwlock_wrlock(&l);
    async_call_start(&p[0], read_soon, &l);
    async_call_start(&p[1], write_soon, &l);
    async_call_start_thread(&p[2], read_soon, &l);
    async_call_start_thread(&p[3], write_soon, &l);
    for (int i = 0; i < 4; i++)
        EXPECT(async_call_join(&p[i]) == -ETIMEDOUT);
    EXPECT(n_waiting_in(&l, READERS) == 0 && n_waiting_in(&l, WRITERS) == 0);
    filch_rwlock_wrunlock(&l);
    EXPECT(filch_rwlock_try_wrlock(&l) == 0);
    return 0;
}
EVERYWHERE(deadline_passes)

static int cancelled(void)
{
    filch_rwlock l = {0};
    async_call p[3];

    filch_rwlock_wrlock(&l);
    async_call_start(&p[0], read_until_cancelled, &l);
    async_call_start(&p[1], read_it, &l);
    await_waiting_in(&l, READERS, 2);
    async_call_start(&p[2], write_until_cancelled, &l);
    await_waiting_in(&l, WRITERS, 1);
    for (int i = 0; i < 3; i++)
        filch_fiber_cancel(p[i].fiber);
    EXPECT(async_call_join(&p[0]) == -ECANCELED);
    EXPECT(async_call_join(&p[2]) == -ECANCELED);
    EXPECT(n_waiting_in(&l, READERS) == 1);
    filch_rwlock_wrunlock(&l);
    EXPECT(async_call_join(&p[1]) == 0);
    filch_rwlock_rdunlock(&l);
    return 0;
}
EVERYWHERE(cancelled)

/* The lock is read.  Then a writer, readers and a second writer come, and get the lock in this
 * order. */
static int writers_and_readers_alternate(void)
{
    filch_rwlock l = {0};
    async_call writer, reader[2], second;

    filch_rwlock_rdlock(&l);
    async_call_start(&writer, write_it, &l);
    await_waiting_in(&l, WRITERS, 1);
    EXPECT(filch_rwlock_try_rdlock(&l) == -EAGAIN); /* a waiting writer keeps it out */
    async_call_start(&reader[0], read_it, &l);
    async_call_start_thread(&reader[1], read_it, &l);
    await_waiting_in(&l, READERS, 2);
    async_call_start(&second, write_it, &l);
    await_waiting_in(&l, WRITERS, 2);

    filch_rwlock_rdunlock(&l);
    async_call_join(&writer);
    EXPECT(n_waiting_in(&l, READERS) == 2 && n_waiting_in(&l, WRITERS) == 1);
    filch_rwlock_wrunlock(&l);
    async_call_join(&reader[0]);
    async_call_join(&reader[1]);
    EXPECT(n_waiting_in(&l, WRITERS) == 1);
    filch_rwlock_rdunlock(&l);
    EXPECT(n_waiting_in(&l, WRITERS) == 1);
    filch_rwlock_rdunlock(&l);
    async_call_join(&second);
    EXPECT(filch_rwlock_try_rdlock(&l) == -EAGAIN);
    filch_rwlock_wrunlock(&l);
    EXPECT(filch_rwlock_try_wrlock(&l) == 0);
    return 0;
}
EVERYWHERE(writers_and_readers_alternate)

/* Without readers, writers get the lock one after the other. */
static int writers_alone(void)
{
    filch_rwlock l = {0};
    async_call p[3];

    filch_rwlock_wrlock(&l);
    for (unsigned i = 0; i < 3; i++) {
        async_call_start(&p[i], write_it, &l);
        await_waiting_in(&l, WRITERS, i + 1);
    }
    for (unsigned i = 0; i < 3; i++) {
        filch_rwlock_wrunlock(&l);
        async_call_join(&p[i]);
        EXPECT(n_waiting_in(&l, WRITERS) == 2 - i);
        EXPECT(filch_rwlock_try_rdlock(&l) == -EAGAIN);
    }
    filch_rwlock_wrunlock(&l);
    return 0;
}
EVERYWHERE(writers_alone)

/* A writer gives up.  The readers that it kept out get the lock, unless another writer waits. */
static int writer_gives_up(void)
{
    filch_rwlock l = {0};
    async_call writer[2], reader;

    filch_rwlock_rdlock(&l);
    async_call_start(&writer[0], write_until_cancelled, &l);
    async_call_start(&writer[1], write_until_cancelled, &l);
    await_waiting_in(&l, WRITERS, 2);
    async_call_start(&reader, read_it, &l);
    await_waiting_in(&l, READERS, 1);
    filch_fiber_cancel(writer[0].fiber);
    EXPECT(async_call_join(&writer[0]) == -ECANCELED);
    EXPECT(n_waiting_in(&l, READERS) == 1);
    filch_fiber_cancel(writer[1].fiber);
    EXPECT(async_call_join(&writer[1]) == -ECANCELED);
    EXPECT(async_call_join(&reader) == 0);
    filch_rwlock_rdunlock(&l);
    EXPECT(filch_rwlock_try_wrlock(&l) == -EAGAIN);
    filch_rwlock_rdunlock(&l);
    EXPECT(filch_rwlock_try_wrlock(&l) == 0);
    return 0;
}
EVERYWHERE(writer_gives_up)

CHECK_MAIN(test_basics, test_deadline_passes, test_cancelled, test_writers_and_readers_alternate,
           test_writers_alone, test_writer_gives_up)
