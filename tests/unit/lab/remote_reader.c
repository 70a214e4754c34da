/* filch top and filch dump read a process while it runs: this one.  They show fibers in known
 * states, and survive any content of its memory. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* process_vm_readv */
#endif
#include "remote.h"

#include "base/rng.h"
#include "check.h"
#include "seed.h"
#include "top_print.h"

#include <filch/filch.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static remote r;
static top_snapshot t;

static void start_and_open(unsigned workers)
{
    CHECK_INT(filch_start(&(filch_config){.workers = workers}), 0);
    CHECK(remote_open(&r, getpid()) == NULL);
    CHECK_INT(r.n_workers, workers);
}

static void stop_and_close(void)
{
    CHECK_INT(filch_stop(), 0);
    CHECK(!top_read_all(&r, &t));
    remote_close(&r);
}

static uint64_t sum_of_kinds(void)
{
    uint64_t sum = t.other_kinds;

    for (int i = 0; i < TOP_KINDS; i++)
        sum += t.kind[i].fibers;
    return sum;
}

static uint64_t kind_of(const char *what)
{
    for (int i = 0; i < TOP_KINDS; i++)
        if (strcmp(t.kind[i].what, what) == 0)
            return t.kind[i].fibers;
    return 0;
}

/* ---- fibers in known states ---- */

enum { SLEEPERS = 40, RECEIVERS = 25, OLDER_NS = 50000000 };

static filch_chan *never;
static filch_mutex held;

static void receive(void *arg)
{
    int none;

    (void)arg;
    filch_chan_recv(never, &none);
}

static void lock(void *arg)
{
    (void)arg;
    filch_mutex_lock(&held);
    filch_mutex_unlock(&held);
}

static void shows_what_fibers_wait_for(void **state)
{
    (void)state;
    start_and_open(2);
    never = filch_chan_new(sizeof(int), 0);
    filch_mutex_lock(&held);
    filch_go_attr(&(filch_fiber_attr){.name = "eldest"}, receive, NULL);
    do /* until it has waited longer than the others, by a coarse clock */
        CHECK(top_read_all(&r, &t));
    while (t.wait[0].for_ns < OLDER_NS);
    for (int i = 1; i < RECEIVERS; i++)
        filch_go(receive, NULL);
    for (int i = 0; i < SLEEPERS; i++)
        filch_go_attr(&(filch_fiber_attr){.name = "sleeper"}, lock, NULL);
    do
        CHECK(top_read_all(&r, &t));
    while (t.waiting < RECEIVERS + SLEEPERS || t.running + t.ready > 0);
    CHECK_INT(t.waiting, RECEIVERS + SLEEPERS);
    CHECK_INT(kind_of("receive"), RECEIVERS);
    CHECK_INT(kind_of("mutex"), SLEEPERS);
    CHECK_INT(sum_of_kinds(), t.waiting);
    for (int i = 0; i < TOP_WAITS; i++) {
        CHECK(t.wait[i].fiber != 0);
        CHECK(i == 0 || t.wait[i].for_ns <= t.wait[i - 1].for_ns);
        CHECK(strcmp(t.wait[i].name, i == 0 ? "eldest" : "filch") == 0 ||
              (i > 0 && strcmp(t.wait[i].name, "sleeper") == 0));
    }
    filch_mutex_unlock(&held);
    filch_chan_close(never);
    stop_and_close();
    filch_chan_free(never);
}

/* ---- ready fibers, while their one worker is busy ---- */

static filch_chan *one, *other;

static void receive_one(void *arg)
{
    int item;

    (void)arg;
    filch_chan_recv(one, &item);
}

static void receive_either(void *arg)
{
    int item;
    filch_case cases[] = {FILCH_CASE_RECV(other, &item), FILCH_CASE_RECV(never, &item)};

    (void)arg;
    filch_select(cases, 2);
}

static void send_and_read(void *arg)
{
    int item = 1;

    (void)arg;
    do {
        filch_yield();
        CHECK(top_read_all(&r, &t));
    } while (t.waiting < 2);
    CHECK_INT(t.ready, 0);
    filch_chan_send(one, &item);
    CHECK(top_read_all(&r, &t));
    CHECK_INT(t.waiting, 1);
    CHECK_INT(t.ready, 1);
    CHECK_INT(t.worker[0].ready, 1);
    filch_chan_send(other, &item);
    CHECK(top_read_all(&r, &t));
    CHECK_INT(t.running, 1);
    CHECK_INT(t.waiting, 0);
    CHECK_INT(t.ready, 2);
    CHECK_INT(t.worker[0].state, TOP_BUSY);
}

static void a_woken_fiber_is_ready(void **state)
{
    filch_group g = FILCH_GROUP_INIT;

    (void)state;
    start_and_open(1);
    one = filch_chan_new(sizeof(int), 0);
    other = filch_chan_new(sizeof(int), 0);
    never = filch_chan_new(sizeof(int), 0);
    filch_go(receive_one, NULL);
    filch_go(receive_either, NULL);
    filch_group_run(&g, send_and_read, NULL);
    CHECK_INT(filch_group_wait(&g), 0);
    stop_and_close();
    filch_chan_free(one);
    filch_chan_free(other);
    filch_chan_free(never);
}

/* ---- deques and counters ---- */

enum { STARTS = 7 };

static void do_nothing(void *arg)
{
    (void)arg;
}

static void start_and_read(void *arg)
{
    uint64_t ended;

    (void)arg;
    CHECK(top_read_all(&r, &t));
    CHECK_INT(t.worker[0].deque, 0);
    ended = t.worker[0].ended;
    for (int i = 0; i < STARTS; i++)
        filch_go(do_nothing, NULL);
    CHECK(top_read_workers(&r, &t));
    CHECK_INT(t.worker[0].deque, STARTS);
    do {
        filch_yield();
        CHECK(top_read_workers(&r, &t));
    } while (t.worker[0].ended < ended + STARTS);
    CHECK_INT(t.worker[0].deque, 0);
}

/* Each kind has its own structure. */
static void shows_deques_and_counters(void **state)
{
    static const char *const kinds[] = {"batch", "bounded", "locked"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        filch_group g = FILCH_GROUP_INIT;
        CHECK_INT(setenv("FILCH_DEQUE", kinds[i], 1), 0);
        start_and_open(1);
        filch_group_run(&g, start_and_read, NULL);
        CHECK_INT(filch_group_wait(&g), 0);
        stop_and_close();
    }
    unsetenv("FILCH_DEQUE");
}

/* ---- while fibers run ---- */

static atomic_int stopping;

static void sleep_shortly(void *arg)
{
    filch_sleep(FILCH_US(50));
    (void)arg;
}

static void make_traffic(void *arg)
{
    filch_chan *c = filch_chan_new(sizeof(int), 1);

    (void)arg;
    for (int i = 0; !stopping; i++) {
        filch_group g = FILCH_GROUP_INIT;
        filch_chan_send(c, &i);
        filch_group_run(&g, sleep_shortly, NULL);
        filch_group_wait(&g);
        filch_chan_recv(c, &i);
        filch_yield();
    }
    filch_chan_free(c);
}

static void check_is_safe(void)
{
    CHECK(t.n_workers <= REMOTE_WORKERS_MAX);
    CHECK_INT(sum_of_kinds(), t.waiting);
    for (int i = 0; i < TOP_KINDS; i++)
        CHECK(memchr(t.kind[i].what, '\0', REMOTE_TEXT) != NULL);
    for (int i = 0; i < TOP_WAITS; i++)
        CHECK(memchr(t.wait[i].name, '\0', REMOTE_TEXT) != NULL &&
              memchr(t.wait[i].what, '\0', REMOTE_TEXT) != NULL && t.wait[i].for_ns >= 0);
    for (unsigned i = 0; i < t.n_workers; i++)
        CHECK(memchr(t.worker[i].runs, '\0', REMOTE_TEXT) != NULL && t.worker[i].state <= TOP_BUSY);
}

static void can_be_read_while_fibers_run(void **state)
{
    filch_group g = FILCH_GROUP_INIT;

    (void)state;
    start_and_open(3);
    stopping = 0;
    for (int i = 0; i < 20; i++)
        filch_group_run(&g, make_traffic, NULL);
    for (int i = 0; i < 300; i++) {
        CHECK(i % 3 == 0 ? top_read_all(&r, &t) : top_read_workers(&r, &t));
        check_is_safe();
    }
    stopping = 1;
    CHECK_INT(filch_group_wait(&g), 0);
    stop_and_close();
}

/* ---- processes without a runtime ---- */

static void says_why_there_is_no_runtime(void **state)
{
    int status;
    pid_t child;

    (void)state;
    CHECK(strstr(remote_open(&r, getpid()), "its runtime is not running"));
    CHECK_INT(remote_uses_filch(getpid()), 0);
    CHECK(strstr(remote_open(&r, INT32_MAX), "no such process"));
    CHECK_INT(filch_start(&(filch_config){.workers = 1}), 0);
    CHECK_INT(remote_uses_filch(getpid()), 1);
    fflush(NULL);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        const char *why = remote_open(&r, getpid());
        _exit(why && strstr(why, "was forked from a process") ? 0 : 1);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    CHECK_INT(filch_stop(), 0);
}

/* ---- damaged memory ---- */

enum { ROUNDS = 300, BLOCK = 1 << 13 };

/* A table with all names, whose values are offsets into a block of random words.  Some words are
 * addresses of the block. */
typedef struct entry {
    char name[24];
    uint64_t value;
} entry;

#define NAME_OF(field) {.name = #field},
static entry entries[] = {REMOTE_LAYOUT(NAME_OF)};
enum { ENTRIES = sizeof entries / sizeof *entries };
static struct {
    uint32_t version, n_entries;
    uint64_t entries;
} table;
static uint64_t block[BLOCK / 8];

static uint64_t random_word(fi_rng *g)
{
    switch (fi_rng_below(g, 4)) {
    case 0:
        return (uint64_t)(uintptr_t)&block[fi_rng_below(g, BLOCK / 8)];
    case 1:
        return fi_rng_below(g, 300);
    case 2:
        return UINT64_MAX - fi_rng_below(g, 300);
    default:
        return fi_rng_next(g);
    }
}

/* Mostly such that the runtime is read: the first four entries are its address, its workers, their
 * number, and whether this is the child of a fork. */
static void fill_runtime(fi_rng *g)
{
    if (fi_rng_below(g, 4) == 0)
        return;
    entries[0].value = (uint64_t)(uintptr_t)&block[0];
    for (uint64_t i = 1; i < 4; i++)
        entries[i].value = 8 * i;
    block[0] = (uint64_t)(uintptr_t)block;
    block[1] = (uint64_t)(uintptr_t)&block[8];
    block[2] = fi_rng_below(g, 20);
    block[3] = 0;
}

static void fill_table(fi_rng *g)
{
    table.version = fi_rng_below(g, 20) == 0 ? 1 : 2;
    table.n_entries = fi_rng_below(g, 20) == 0 ? (uint32_t)fi_rng_next(g) : ENTRIES;
    table.entries = fi_rng_below(g, 20) == 0 ? random_word(g) : (uint64_t)(uintptr_t)entries;
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        block[i] = random_word(g);
    for (int i = 0; i < ENTRIES; i++)
        entries[i].value =
            fi_rng_below(g, 40) == 0 ? random_word(g) : UINT64_C(8) * fi_rng_below(g, 75);
    fill_runtime(g);
}

static void random_content_can_be_shown(void **state)
{
    static top_snapshot before;
    static top_shares shares[REMOTE_WORKERS_MAX];
    FILE *nowhere = fopen("/dev/null", "w");
    int n_opened = 0;
    fi_rng g;

    (void)state;
    CHECK(nowhere != NULL);
    fi_rng_seed(&g, seed_get());
    for (int i = 0; i < ROUNDS; i++) {
        fill_table(&g);
        if (remote_open_at(&r, getpid(), (uint64_t)(uintptr_t)&table) == NULL) {
            n_opened++;
            top_read_all(&r, &t);
            check_is_safe();
            top_print(nowhere, &before, &t, shares, "program", 200, 0);
        }
        remote_close(&r);
    }
    printf("%d of %d tables were opened\n", n_opened, ROUNDS);
    CHECK(n_opened > 0);
    fclose(nowhere);
}

/* ---- */

static void process_vm_readv_works(void **state)
{
    struct iovec none = {NULL, 0};

    (void)state;
    if (process_vm_readv(getpid(), &none, 1, &none, 1, 0) == 0)
        return;
    printf("skipped: process_vm_readv does not work here: %s\n", strerror(errno));
    exit(77);
}

CHECK_MAIN(process_vm_readv_works, shows_what_fibers_wait_for, a_woken_fiber_is_ready,
           shows_deques_and_counters, can_be_read_while_fibers_run, says_why_there_is_no_runtime,
           random_content_can_be_shown)
