/* The transport table, with the real MPI: transport_test [MODE], started by transport_test.sh.
 *
 *     all          messages of all sizes, errors, a ring, an idle wait (the default)
 *     measure      print the latency of a wake-up and the cost of a poll
 *     nodes        as all; half of the ranks are on this node
 *     initialised  the program initialises MPI and passes its communicator
 *     funneled     the program initialises MPI with too low a thread level: refused
 *     other        the launcher has another number of ranks than MPI: refused
 *     choose NAME  print which transport is chosen
 *
 * As in the library, a thread that is not the main thread makes all calls. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include "base/compiler.h"
#include "transport_helpers.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SMALL_REPEATS = 40, LARGE_REPEATS = 3, PHASES = 16 };

/* ---- an allocation that fails ---- */

static atomic_size_t refused_size; /* 0: none */

/* The sanitizers have a malloc of their own. */
#if defined __GLIBC__ && !FI_UNDER_ASAN && !FI_UNDER_TSAN
#define CAN_REFUSE 1
#else
#define CAN_REFUSE 0
#endif

#if CAN_REFUSE
extern void *__libc_malloc(size_t size);

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    return size != 0 && size == atomic_load(&refused_size) ? NULL : __libc_malloc(size);
}
#endif

/* ---- messages ---- */

static const size_t sizes[] = {0,    1,    31,   1000,  4032,  4063,    4064,
                               4065, 8192, 9000, 65536, 65537, 1 << 20, 4 << 20};

enum { SIZES = sizeof sizes / sizeof sizes[0] };

static unsigned n_repeats(size_t size)
{
    return size > 65537 ? LARGE_REPEATS : SMALL_REPEATS;
}

/* The messages from one rank to another have numbers.  Returns how many there are. */
static unsigned n_numbers(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < SIZES; i++)
        n += n_repeats(sizes[i]);
    return n;
}

/* Small and large messages alternate. */
static size_t size_of_number(unsigned number)
{
    for (unsigned repeat = 0;; repeat++)
        for (unsigned i = 0; i < SIZES; i++)
            if (repeat < n_repeats(sizes[i]) && number-- == 0)
                return sizes[i];
}

static unsigned char byte_at(unsigned from, unsigned to, unsigned number, size_t i)
{
    return (unsigned char)(from * 101 + to * 57 + number * 13 + i + (i >> 8) * 3);
}

static fi_packet *loot_make(unsigned to, unsigned number)
{
    fi_packet *p = packet_make(FI_LOOT, number, size_of_number(number));

    for (size_t i = 0; i < p->size; i++)
        p->body[i] = byte_at(here.rank, to, number, i);
    return p;
}

static bool loot_is_right(const fi_packet *p)
{
    if (p->size != size_of_number((unsigned)p->head.a))
        return false;
    for (size_t i = 0; i < p->size; i++)
        if (p->body[i] != byte_at(p->head.from, here.rank, (unsigned)p->head.a, i))
            return false;
    return true;
}

/* ---- phases ---- */

/* Ranks are in different phases, so each rank counts what comes and waits for counts. */
static unsigned n_received[FI_KINDS], n_dones[PHASES], phase;
static bool *has_loot[MAX_RANKS]; /* by sender and number */

static void loot_count(const fi_packet *p)
{
    bool *seen;

    CHECK(p->head.from < here.ranks && p->head.from != here.rank);
    CHECK(p->head.a < n_numbers() && loot_is_right(p));
    seen = &has_loot[p->head.from][p->head.a];
    CHECK(!*seen);
    *seen = true;
}

static void packet_handle(fi_packet *p)
{
    CHECK(p->head.kind > 0 && p->head.kind < FI_KINDS);
    n_received[p->head.kind]++;
    if (p->head.kind == FI_LOOT)
        loot_count(p);
    else if (p->head.kind == FI_DONE)
        n_dones[p->head.a]++;
    fi_packet_free(p);
}

static void poll_or_wait(void)
{
    fi_packet *p = poll_checked();

    if (p)
        packet_handle(p);
    else
        net->wait(wait_ns);
}

static void await_received(fi_kind kind, unsigned n)
{
    while (n_received[kind] < n)
        poll_or_wait();
}

static void packet_send(unsigned to, fi_packet *p)
{
    while (!packet_try_send(to, &p))
        poll_or_wait();
}

/* Wait until all ranks have finished this phase. */
static void phase_end(void)
{
    for (unsigned to = 0; to < here.ranks; to++)
        if (to != here.rank)
            packet_send(to, packet_make(FI_DONE, phase, 0));
    while (n_dones[phase] < here.ranks - 1)
        poll_or_wait();
    phase++;
}

/* ---- messages of all sizes, between all ranks at once ---- */

static void loots_send(void)
{
    for (unsigned number = 0; number < n_numbers(); number++)
        for (unsigned i = 1; i < here.ranks; i++) {
            unsigned to = (here.rank + i) % here.ranks;

            packet_send(to, loot_make(to, number));
        }
}

/* No message came twice, not even late. */
static void exchange_end(void)
{
    CHECK(n_received[FI_LOOT] == n_numbers() * (here.ranks - 1));
    for (unsigned i = 0; i < here.ranks; i++)
        free(has_loot[i]);
}

static void test_exchange(void)
{
    unsigned expected = n_numbers() * (here.ranks - 1);

    for (unsigned i = 0; i < here.ranks; i++)
        CHECK(has_loot[i] = calloc(n_numbers(), sizeof(bool)));
    loots_send();
    await_received(FI_LOOT, expected);
    phase_end();
    if (here.rank == 0)
        printf("exchange: %u messages received by each of %u ranks\n", expected, here.ranks);
}

/* ---- errors ---- */

/* Poll until there is an error. */
static int poll_error(void)
{
    int error = 0;

    for (;;) {
        fi_packet *p = net->poll(&error);

        if (error)
            return error;
        if (p)
            packet_handle(p);
        else
            net->wait(wait_ns);
    }
}

/* Rank 1 tells rank 0 that it is prepared for the nth message that leads to an error. */
static void rank_1_is_prepared(unsigned n)
{
    if (here.rank == 1)
        packet_send(0, packet_make(FI_ASK, 0, 0));
    else if (here.rank == 0)
        await_received(FI_ASK, n);
}

/* A message for which there is no memory is not lost. */
static void test_no_memory(void)
{
    enum { SIZE = 12345, TRIES = 10 };

#if CAN_REFUSE
    if (here.rank == 1)
        atomic_store(&refused_size, sizeof(fi_packet) + SIZE);
#endif
    rank_1_is_prepared(1);
    if (here.rank == 0)
        packet_send(1, packet_make(FI_GIFT, 0, SIZE));
    if (here.rank == 1) {
        for (int i = 0; atomic_load(&refused_size) && i < TRIES; i++)
            CHECK(poll_error() == -ENOMEM);
        atomic_store(&refused_size, 0);
        await_received(FI_GIFT, 1);
    }
    phase_end();
}

static void test_unknown_kind(void)
{
    rank_1_is_prepared(2);
    if (here.rank == 0) {
        packet_send(1, packet_make((fi_kind)0, 0, 0));
        packet_send(1, packet_make(FI_KINDS, 0, 9000));
    }
    for (int i = 0; here.rank == 1 && i < 2; i++)
        CHECK(poll_error() == -EPROTO);
    phase_end();
}

/* ---- waiting ---- */

static atomic_bool is_waiting, is_rung;

static void *ring_once(void *ctx)
{
    (void)ctx;
    while (!atomic_load(&is_waiting))
        usleep(1000);
    usleep(20000); /* the wait has probably begun; the test holds either way */
    atomic_store(&is_rung, true);
    net->ring();
    return NULL;
}

static void test_ring(void)
{
    pthread_t ringer;

    atomic_store(&is_waiting, false);
    atomic_store(&is_rung, false);
    CHECK(pthread_create(&ringer, NULL, ring_once, NULL) == 0);
    atomic_store(&is_waiting, true);
    while (!atomic_load(&is_rung))
        net->wait(3600 * second_ns);
    pthread_join(ringer, NULL);
    /* A ring before the wait counts, too. */
    net->ring();
    net->wait(3600 * second_ns);
    if (here.ranks > 1)
        phase_end();
}

static void measure_idle(void)
{
    enum { WAITS = 10 };
    int64_t wall = clock_ns(CLOCK_MONOTONIC), thread = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int64_t process = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

    for (int i = 0; i < WAITS; i++) {
        fi_packet *p = poll_checked();

        if (p)
            packet_handle(p);
        net->wait(100 * ms_ns);
    }
    wall = clock_ns(CLOCK_MONOTONIC) - wall;
    thread = clock_ns(CLOCK_THREAD_CPUTIME_ID) - thread;
    process = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - process;
    printf("idle: rank %u, %.2f s: %.3f %% of a CPU (all threads of the process: %.3f %%)\n",
           here.rank, (double)wall / 1e9, 100.0 * (double)thread / (double)wall,
           100.0 * (double)process / (double)wall);
    fflush(stdout);
}

/* ---- measuring ---- */

static int int64_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void await_polling(fi_kind kind, unsigned n, bool may_sleep)
{
    while (n_received[kind] < n) {
        fi_packet *p = poll_checked();

        if (p)
            packet_handle(p);
        else if (may_sleep)
            net->wait(wait_ns);
    }
}

static int64_t ping(bool may_sleep, unsigned pause_us)
{
    unsigned n = n_received[FI_NO] + 1;
    int64_t start;

    if (pause_us)
        usleep(pause_us);
    start = clock_ns(CLOCK_MONOTONIC);
    packet_send(1, packet_make(FI_ASK, 0, 0));
    await_polling(FI_NO, n, may_sleep);
    return (clock_ns(CLOCK_MONOTONIC) - start) / 2;
}

static void pong(bool may_sleep)
{
    static unsigned n;

    await_polling(FI_ASK, ++n, may_sleep);
    packet_send(0, packet_make(FI_NO, 0, 0));
}

/* The other rank sleeps in wait when the message comes, if there is a pause before it. */
static void measure_ping_pong(const char *name, bool may_sleep, unsigned pause_us)
{
    enum { ROUNDS = 1000 };
    static int64_t took[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        if (here.rank == 0)
            took[i] = ping(may_sleep, pause_us);
        else if (here.rank == 1)
            pong(may_sleep);
    }
    if (here.rank == 0) {
        int64_t median, p90;

        qsort(took, ROUNDS, sizeof took[0], int64_compare);
        median = took[ROUNDS / 2];
        p90 = took[ROUNDS * 9 / 10];
        printf("%s: one way %.2f us (median), %.2f us (p90), %.2f us (max)\n", name,
               (double)median / 1e3, (double)p90 / 1e3, (double)took[ROUNDS - 1] / 1e3);
    }
    phase_end();
}

static void measure_poll(void)
{
    enum { POLLS = 500000 };
    int64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    for (int i = 0; here.rank == 0 && i < POLLS; i++) {
        fi_packet *p = poll_checked();

        if (p)
            packet_handle(p);
    }
    cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    if (here.rank == 0)
        printf("poll that finds nothing: %.1f ns of CPU\n", (double)cpu / POLLS);
}

static void mode_measure(void)
{
    measure_ping_pong("both poll", false, 0);
    measure_ping_pong("both wait", true, 0);
    measure_ping_pong("both wait, asleep for 1 ms", true, 1000);
    measure_poll();
    measure_idle();
    phase_end();
}

/* ---- opening ---- */

static void mode_all(void)
{
    if (here.ranks > 1) {
        test_exchange();
        test_no_memory();
        test_unknown_kind();
    }
    test_ring();
    measure_idle();
    if (here.ranks > 1) {
        phase_end();
        exchange_end();
    }
}

/* The open must fail with this error. */
static void open_refused(int expected)
{
    const char *why = NULL;
    int e = net->open(&config, &here, &why);

    CHECK(e == expected && why);
    printf("refused: %s\n", why);
}

/* A program with MPI of its own.  The plugin has loaded the library. */
typedef int init_function(int *argc, char ***argv, int level, int *provided);
typedef int finalize_function(void);

static void *mpi_symbol(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);

    CHECK(symbol);
    return symbol;
}

static void mpi_initialise(int level)
{
    init_function *init = (init_function *)mpi_symbol("MPI_Init_thread");
    int provided = -1;

    CHECK(init(NULL, NULL, level, &provided) == 0 && provided >= level);
}

static void mpi_finalise(void)
{
    CHECK(((finalize_function *)mpi_symbol("MPI_Finalize"))() == 0);
}

/* MPI_COMM_WORLD: Open MPI has pointers, MPICH has numbers. */
static const void *mpi_world(void)
{
    static void *pointer;
    static const int number = 0x44000000;

    pointer = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
    return pointer ? (const void *)&pointer : (const void *)&number;
}

enum { FUNNELED = 1, MULTIPLE = 3 }; /* the values of both libraries */

/* No rank receives it before close, which drops it.  MPI completes the send only when it is
 * received. */
static void send_last(void)
{
    fi_packet *p;

    if (here.rank == 0)
        return;
    p = fi_packet_new(1 << 20);
    CHECK(p);
    p->head = (fi_header){.kind = FI_BEAT, .from = here.rank};
    CHECK(net->send(0, p) == 0);
}

static int mode_run(const char *mode)
{
    if (strcmp(mode, "other") == 0) {
        config.launched_ranks++;
        open_refused(-EPROTO);
        return 0;
    }
    if (strcmp(mode, "alone") == 0) { /* the launcher says the number of the rank only */
        config.launched_ranks = 0;
        config.launched_rank++;
        open_refused(-EPROTO);
        return 0;
    }
    if (strcmp(mode, "funneled") == 0) {
        mpi_initialise(FUNNELED);
        open_refused(-EINVAL);
        mpi_finalise();
        return 0;
    }
    if (strcmp(mode, "initialised") == 0) {
        mpi_initialise(MULTIPLE);
        config.mpi_comm = mpi_world();
    }
    transport_open();
    wait_ns_set();
    CHECK(strcmp(mode, "nodes") != 0 || 2 * here.n_near == here.ranks);
    if (strcmp(mode, "measure") == 0)
        mode_measure();
    else
        mode_all();
    send_last();
    net->close();
    if (strcmp(mode, "initialised") == 0)
        mpi_finalise();
    return 0;
}

static void *mode_thread(void *mode)
{
    mode_run(mode);
    return NULL;
}

static int choose_print(const char *name)
{
    int e = fi_transport_choose(name, &net, &config);

    if (e < 0)
        printf("%s\n", strerror(-e));
    else
        printf("%s %u %d\n", net->name, config.launched_ranks, config.launched_rank);
    return e < 0;
}

int main(int argc, char **argv)
{
    char *mode = argc > 1 ? argv[1] : (char[]){"all"};
    pthread_t communication;

    if (argc > 2 && strcmp(mode, "choose") == 0)
        return choose_print(argv[2]);
    CHECK(fi_transport_choose("auto", &net, &config) == 0);
    CHECK(pthread_create(&communication, NULL, mode_thread, mode) == 0);
    CHECK(pthread_join(communication, NULL) == 0);
    return 0;
}
