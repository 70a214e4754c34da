/* The transport under load: flood_test MODE, started by flood_test.sh.
 *
 *     many         many small messages between all ranks at once
 *     large        messages of 100 MB between all ranks at once
 *     stopped [N]  a rank that is stopped does not block the other, which sends it messages with N
 *                  bytes (1 MB) until the transport refuses one; 2 ranks */
#include "transport_helpers.h"

#include <pthread.h>
#include <stdlib.h>

static const char *mode;
static size_t stopped_size = 1 << 20;

/* ---- counting ---- */

static unsigned n_sent[MAX_RANKS];     /* FI_LOOT, to each rank */
static unsigned n_received[MAX_RANKS]; /* FI_LOOT, from each rank */
static unsigned n_expected[MAX_RANKS]; /* as FI_DONE says */
static unsigned n_dones;
static uint64_t sums[MAX_RANKS]; /* of the numbers of the messages from each rank */

static unsigned char byte_at(unsigned from, uint64_t number)
{
    return (unsigned char)((uint64_t)from * 89 + number * 31 + 7);
}

static fi_packet *loot_make(unsigned to, size_t size)
{
    unsigned number = n_sent[to]++;
    fi_packet *p = packet_make(FI_LOOT, number, size);

    memset(p->body, byte_at(here.rank, number), size);
    return p;
}

static bool body_is_right(const fi_packet *p)
{
    return p->size == 0 || (p->body[0] == byte_at(p->head.from, p->head.a) &&
                            memcmp(p->body, p->body + 1, p->size - 1) == 0);
}

static void packet_count(fi_packet *p)
{
    unsigned from = p->head.from;

    CHECK(from < here.ranks && from != here.rank);
    if (p->head.kind == FI_LOOT) {
        CHECK(body_is_right(p));
        n_received[from]++;
        sums[from] += p->head.a;
    } else {
        CHECK(p->head.kind == FI_DONE);
        n_expected[from] = (unsigned)p->head.a;
        n_dones++;
    }
    fi_packet_free(p);
}

/* False: nothing has arrived. */
static bool packet_receive(void)
{
    fi_packet *p = poll_checked();

    if (p)
        packet_count(p);
    return p;
}

static void poll_or_wait(void)
{
    if (!packet_receive())
        net->wait(wait_ns);
}

static void packet_send(unsigned to, fi_packet *p)
{
    while (!packet_try_send(to, &p))
        poll_or_wait();
}

static bool all_is_received(void)
{
    if (n_dones < here.ranks - 1)
        return false;
    for (unsigned i = 0; i < here.ranks; i++)
        if (n_received[i] < n_expected[i])
            return false;
    return true;
}

/* Each message came once: their numbers count from 0. */
static void messages_check(void)
{
    for (unsigned i = 0; i < here.ranks; i++) {
        uint64_t n = n_expected[i];

        CHECK(n_received[i] == n);
        CHECK(sums[i] == (n == 0 ? 0 : n * (n - 1) / 2));
    }
}

/* Tell all ranks how many messages to expect, and receive theirs. */
static void exchange_finish(const char *what)
{
    for (unsigned to = 0; to < here.ranks; to++)
        if (to != here.rank)
            packet_send(to, packet_make(FI_DONE, n_sent[to], 0));
    while (!all_is_received())
        poll_or_wait();
    messages_check();
    if (here.rank == 0)
        printf("%s: each of %u ranks received all messages once\n", what, here.ranks);
}

/* ---- many and large messages ---- */

/* The generator of Numerical Recipes is random enough to choose ranks and sizes. */
static unsigned random_next(void)
{
    static uint32_t state;

    if (state == 0)
        state = 12345 + here.rank;
    state = state * 1664525 + 1013904223;
    return state >> 8;
}

/* Each rank sends without a pause, and receives when a send is refused or a random number says
 * so. */
static void mode_many(void)
{
    enum { MESSAGES = 100000, MAX_SIZE = 200 };

    CHECK(here.ranks > 1);
    for (unsigned i = 0; i < MESSAGES; i++) {
        unsigned to = (here.rank + 1 + random_next() % (here.ranks - 1)) % here.ranks;

        packet_send(to, loot_make(to, random_next() % MAX_SIZE));
        if (random_next() % 2)
            packet_receive();
    }
    exchange_finish("many");
}

static void mode_large(void)
{
    enum { MESSAGES = 2, SIZE = 100000000 };

    for (unsigned i = 0; i < MESSAGES; i++)
        for (unsigned to = 0; to < here.ranks; to++)
            if (to != here.rank)
                packet_send(to, loot_make(to, SIZE));
    exchange_finish("large");
}

/* ---- a stopped rank ---- */

/* Send to a stopped rank until the transport refuses. */
static void stopped_flood(void)
{
    enum { MAX = 10000000 };
    fi_packet *p;

    do {
        CHECK(n_sent[1] < MAX);
        p = loot_make(1, stopped_size);
    } while (packet_try_send(1, &p));
    n_sent[1]--;
    fi_packet_free(p);
}

static void stopped_polls(void)
{
    for (int i = 0; i < 1000; i++) {
        packet_receive();
        net->wait(ms_ns);
    }
}

/* All calls return while the other rank is stopped in the middle of a large message. */
static void stopped_drive(void)
{
    int64_t cpu;

    while (!process_is_stopped(here.pids[1]))
        net->wait(ms_ns);
    cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    stopped_polls();
    stopped_flood();
    stopped_polls();
    cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    printf("stopped: %u messages of %zu bytes until -EAGAIN, %.1f ms of CPU\n", n_sent[1],
           stopped_size, (double)cpu / 1e6);
    CHECK(kill(here.pids[1], SIGCONT) == 0);
}

static void mode_stopped(void)
{
    CHECK(here.ranks == 2 && here.n_near == 2);
    if (here.rank == 0) {
        stopped_drive();
    } else {
        packet_send(0, loot_make(0, 4 << 20));
        raise(SIGSTOP);
    }
    exchange_finish("stopped");
}

/* ---- */

static void *communicate(void *ctx)
{
    (void)ctx;
    transport_open();
    wait_ns_set();
    if (strcmp(mode, "many") == 0)
        mode_many();
    else if (strcmp(mode, "large") == 0)
        mode_large();
    else
        mode_stopped();
    net->close();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    if (argc < 2)
        return 2;
    mode = argv[1];
    if (argc > 2)
        stopped_size = strtoul(argv[2], NULL, 10);
    CHECK(fi_transport_choose("mpi", &net, &config) == 0);
    CHECK(pthread_create(&thread, NULL, communicate, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}
