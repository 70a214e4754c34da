/* The page of filch top shows fibers in known states, and can be read while they run. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"
#include "unit/observe/forks.h"

#include "base/compiler.h"

#include <filch/filch.h>
#include <filch/top.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a reader of the page ---- */

/* The file, found as another process finds it; -1: there is none. */
static int open_page(void)
{
    DIR *d = opendir("/proc/self/fd");
    int fd = -1;

    for (struct dirent *e; fd < 0 && (e = readdir(d)) != NULL;) {
        char path[300], target[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        if (readlink(path, target, sizeof target - 1) > 0 &&
            strstr(target, "memfd:" FILCH_TOP_FILE))
            fd = open(path, O_RDWR | O_CLOEXEC);
    }
    closedir(d);
    return fd;
}

static filch_top *map_page(unsigned workers)
{
    int fd = open_page();
    void *at;

    CHECK(fd >= 0);
    at = mmap(NULL, FILCH_TOP_SIZE(workers), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(at != MAP_FAILED);
    close(fd);
    return at;
}

static void request(filch_top *p, filch_top_part part)
{
    uint32_t wanted, done;

    p->part = part;
    wanted = __atomic_add_fetch(&p->wanted, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &p->wanted, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    while ((done = __atomic_load_n(&p->done, __ATOMIC_ACQUIRE)) != wanted)
        syscall(SYS_futex, &p->done, FUTEX_WAIT, done, NULL, NULL, 0);
}

static uint64_t sum_of_kinds(const filch_top *p)
{
    uint64_t sum = p->other_kinds;

    for (int i = 0; i < FILCH_TOP_KINDS; i++)
        sum += p->kind[i].fibers;
    return sum;
}

static uint64_t kind_of(const filch_top *p, const char *what)
{
    for (int i = 0; i < FILCH_TOP_KINDS; i++)
        if (strcmp(p->kind[i].what, what) == 0)
            return p->kind[i].fibers;
    return 0;
}

static void start(unsigned workers)
{
    CHECK_INT(filch_start(&(filch_config){.workers = workers, .top = true}), 0);
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
    filch_top *p;

    (void)state;
    start(2);
    p = map_page(2);
    CHECK(p->magic == FILCH_TOP_MAGIC);
    CHECK_INT(p->version, FILCH_TOP_VERSION);
    CHECK_INT(p->workers, 2);
    CHECK_INT(p->pid, getpid());
    never = filch_chan_new(sizeof(int), 0);
    filch_mutex_lock(&held);
    filch_go_attr(&(filch_fiber_attr){.name = "eldest"}, receive, NULL);
    do /* until it has waited longer than the others, by a coarse clock */
        request(p, FILCH_TOP_ALL);
    while (p->wait[0].for_ns < OLDER_NS);
    for (int i = 1; i < RECEIVERS; i++)
        filch_go(receive, NULL);
    for (int i = 0; i < SLEEPERS; i++)
        filch_go_attr(&(filch_fiber_attr){.name = "sleeper"}, lock, NULL);
    do
        request(p, FILCH_TOP_ALL);
    while (p->waiting < RECEIVERS + SLEEPERS || p->running + p->ready > 0);
    CHECK_INT(p->waiting, RECEIVERS + SLEEPERS);
    CHECK_INT(kind_of(p, "receive"), RECEIVERS);
    CHECK_INT(kind_of(p, "mutex"), SLEEPERS);
    CHECK_INT(sum_of_kinds(p), p->waiting);
    for (int i = 0; i < FILCH_TOP_WAITS; i++) {
        CHECK(p->wait[i].fiber != 0);
        CHECK(i == 0 || p->wait[i].for_ns <= p->wait[i - 1].for_ns);
        CHECK(strcmp(p->wait[i].name, i == 0 ? "eldest" : "filch") == 0 ||
              (i > 0 && strcmp(p->wait[i].name, "sleeper") == 0));
    }
    filch_mutex_unlock(&held);
    filch_chan_close(never);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(__atomic_load_n(&p->stopped, __ATOMIC_ACQUIRE), 1);
    munmap(p, FILCH_TOP_SIZE(2));
    filch_chan_free(never);
    CHECK_INT(open_page(), -1);
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

static void send_and_read_page(void *page)
{
    filch_top *p = page;
    int item = 1;

    do {
        filch_yield();
        request(p, FILCH_TOP_ALL);
    } while (p->waiting < 2);
    CHECK_INT(p->ready, 0);
    filch_chan_send(one, &item);
    request(p, FILCH_TOP_ALL);
    CHECK_INT(p->waiting, 1);
    CHECK_INT(p->ready, 1);
    filch_chan_send(other, &item);
    request(p, FILCH_TOP_ALL);
    CHECK_INT(p->running, 1);
    CHECK_INT(p->waiting, 0);
    CHECK_INT(p->ready, 2);
}

static void a_woken_fiber_is_ready(void **state)
{
    filch_group g = FILCH_GROUP_INIT;
    filch_top *p;

    (void)state;
    start(1);
    p = map_page(1);
    one = filch_chan_new(sizeof(int), 0);
    other = filch_chan_new(sizeof(int), 0);
    never = filch_chan_new(sizeof(int), 0);
    filch_go(receive_one, NULL);
    filch_go(receive_either, NULL);
    filch_group_run(&g, send_and_read_page, p);
    CHECK_INT(filch_group_wait(&g), 0);
    CHECK_INT(filch_stop(), 0);
    munmap(p, FILCH_TOP_SIZE(1));
    filch_chan_free(one);
    filch_chan_free(other);
    filch_chan_free(never);
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

static void the_page_is_consistent_while_fibers_run(void **state)
{
    filch_group g = FILCH_GROUP_INIT;
    filch_top *p;

    (void)state;
    start(3);
    p = map_page(3);
    stopping = 0;
    for (int i = 0; i < 20; i++)
        filch_group_run(&g, make_traffic, NULL);
    for (int i = 0; i < 300; i++) {
        request(p, i % 3 == 0 ? FILCH_TOP_ALL : FILCH_TOP_WORKERS);
        CHECK_INT(sum_of_kinds(p), p->waiting);
        for (unsigned w = 0; w < 3; w++) {
            CHECK(p->worker[w].state <= FILCH_TOP_BUSY);
            CHECK(memchr(p->worker[w].runs, '\0', FILCH_TOP_TEXT) != NULL);
        }
    }
    stopping = 1;
    CHECK_INT(filch_group_wait(&g), 0);
    CHECK_INT(filch_stop(), 0);
    munmap(p, FILCH_TOP_SIZE(3));
}

/* ---- another process writes to it ---- */

/* Reading behind the end of a file raises SIGBUS. */
static void the_size_is_sealed(void **state)
{
    int fd;

    (void)state;
    start(2);
    fd = open_page();
    CHECK(fd >= 0);
    CHECK_INT(ftruncate(fd, 0), -1);
    CHECK_INT(errno, EPERM);
    CHECK_INT(ftruncate(fd, (off_t)1 << 20), -1);
    close(fd);
    CHECK_INT(filch_stop(), 0);
}

/* The process must not use the value as an index or a size. */
static void values_written_by_another_process_are_not_used(void **state)
{
    const size_t size = FILCH_TOP_SIZE(2);
    filch_top *p;

    (void)state;
    start(2);
    p = map_page(2);
    memset(&p->now_ns, 0xff, size - offsetof(filch_top, now_ns));
    p->size = (uint32_t)1 << 30;
    p->workers = UINT32_MAX;
    p->part = UINT32_MAX;
    request(p, FILCH_TOP_ALL);
    CHECK_INT(p->running + p->ready + p->waiting, 0);
    CHECK_INT(p->kind[0].fibers, 0);
    CHECK_INT(filch_stop(), 0);
    munmap(p, size);
}

static int in_child(void)
{
    filch_top *p;
    bool ours;

    alarm(600);
    start(1);
    p = map_page(1);
    request(p, FILCH_TOP_ALL);
    ours = p->pid == getpid();
    return filch_stop() == 0 && ours ? 0 : 1;
}

static void a_fork_child_has_a_page_of_its_own(void **state)
{
    filch_top *p;
    int status;
    pid_t child;

    (void)state;
    if (!children_can_have_threads())
        return;
    start(1);
    p = map_page(1);
    fflush(NULL);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(in_child());
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    request(p, FILCH_TOP_ALL);
    CHECK_INT(p->pid, getpid());
    CHECK_INT(filch_stop(), 0);
    munmap(p, FILCH_TOP_SIZE(1));
}

static void there_is_no_page_unless_enabled(void **state)
{
    (void)state;
    CHECK_INT(filch_start(NULL), 0);
    CHECK_INT(open_page(), -1);
    CHECK_INT(filch_stop(), 0);
}

CHECK_MAIN(the_size_is_sealed, values_written_by_another_process_are_not_used,
           shows_what_fibers_wait_for, a_woken_fiber_is_ready,
           the_page_is_consistent_while_fibers_run, a_fork_child_has_a_page_of_its_own,
           there_is_no_page_unless_enabled)
