/* FILCH_TOP: the page that filch top looks at, and the thread that fills it when it is asked to.  See <filch/top.h>. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include "base/clock.h"
#include "base/futex.h"
#include "base/publish.h"
#include "observe/observe.h"
#include "observe/stats.h"
#include "observe/top_fill.h"
#include "sched/worker.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of the one runtime that there is. */
static struct {
    filch_top *page; /* NULL: nobody may look */
    int fd;
    pthread_t thread;
    fi_runtime *rt;
    FI_ATOMIC(uint32_t) over;
} top;

typedef FI_ATOMIC(uint32_t) word;

static word *word_of(uint32_t *plain)
{
    return (word *)plain;
}

/* ---- the thread ---- */

static void answer(uint32_t wanted)
{
    fi_top_fill(top.rt, top.page, top.page->part);
    fi_publish(word_of(&top.page->done), wanted);
    fi_futex_wake_shared(word_of(&top.page->done), INT_MAX);
}

static void *serve(void *none)
{
    uint32_t wanted, done = 0;

    (void)none;
    pthread_setname_np(pthread_self(), "filch-top");
    while (!fi_load_relaxed(&top.over)) {
        wanted = fi_published(word_of(&top.page->wanted));
        if (wanted == done) {
            fi_futex_wait_shared(word_of(&top.page->wanted), wanted);
            continue;
        }
        answer(wanted);
        done = wanted;
    }
    return NULL;
}

/* Signals are for the program's own threads. */
static int start_thread(void)
{
    sigset_t all, mask;
    int e;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    e = pthread_create(&top.thread, NULL, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return -e;
}

/* ---- the page ---- */

/* NULL: there is none, and errno says why. */
static filch_top *map_page(size_t size)
{
    void *at;

    top.fd = memfd_create(FILCH_TOP_FILE, MFD_CLOEXEC);
    if (top.fd < 0)
        return NULL;
    at = ftruncate(top.fd, (off_t)size) == 0
             ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, top.fd, 0)
             : MAP_FAILED;
    if (at != MAP_FAILED)
        return at;
    close(top.fd);
    return NULL;
}

static void unmap_page(void)
{
    munmap(top.page, top.page->size);
    close(top.fd);
    top.page = NULL;
}

static void write_head(filch_top *p, const fi_runtime *rt, size_t size)
{
    p->magic = FILCH_TOP_MAGIC;
    p->version = FILCH_TOP_VERSION;
    p->size = (uint32_t)size;
    p->pid = (int32_t)getpid();
    p->workers = rt->workers_n;
    p->began_ns = fi_clock_now();
}

static int open_page(fi_runtime *rt)
{
    size_t size = FILCH_TOP_SIZE(rt->workers_n);
    filch_top *page = map_page(size);
    int e;

    if (!page)
        return -errno;
    write_head(page, rt, size);
    top.page = page;
    top.rt = rt;
    fi_store_relaxed(&top.over, 0u);
    e = start_thread();
    if (e < 0)
        unmap_page();
    else
        rt->lookers++;
    return e;
}

/* What is there at the beginning is of the parent, before a fork(): who looks for ours is not to find that. */
static int begin(fi_runtime *rt)
{
    int e;

    if (top.page)
        unmap_page();
    e = rt->settings.observe.top ? open_page(rt) : 0;

    if (e < 0)
        fprintf(stderr, "filch: there can be no page for filch top: %s\n", strerror(-e));
    return e;
}

/* Whoever looks just now is told that this was the last answer. */
static void end(fi_runtime *rt, bool has_run)
{
    (void)rt;
    (void)has_run;
    if (!top.page)
        return;
    fi_store_relaxed(&top.over, 1u);
    fi_fetch_add_relaxed(word_of(&top.page->wanted), 1u);
    fi_futex_wake_shared(word_of(&top.page->wanted), INT_MAX);
    pthread_join(top.thread, NULL);
    fi_publish(word_of(&top.page->stopped), 1u);
    fi_fetch_add_relaxed(word_of(&top.page->done), 1u);
    fi_futex_wake_shared(word_of(&top.page->done), INT_MAX);
    unmap_page();
}

const fi_observer fi_observe_top = {.begin = begin, .end = end};
