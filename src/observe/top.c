/* FILCH_TOP: a shared page for filch top, and a thread that fills it on request.  See
 * <filch/top.h>. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create, F_ADD_SEALS */
#endif
#include "base/clock.h"
#include "base/futex.h"
#include "base/init_flag.h"
#include "observe/file_signals.h"
#include "observe/observe.h"
#include "observe/stats.h"
#include "observe/top_snapshot.h"
#include "observe/vm.h"
#include "sched/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* State of the one runtime.
 *
 * Any process of the same user can write to the page, so only the two words of a request are read
 * from it.  Its size is sealed, because a page that another process truncates would end this
 * process by SIGBUS. */
static struct {
    filch_top *page;     /* NULL: off */
    filch_top *snapshot; /* the page is copied from this */
    size_t size;         /* of each */
    int fd;
    pthread_t thread;
    fi_runtime *rt;
    FI_ATOMIC(uint32_t) stopping;
} top;

typedef FI_ATOMIC(uint32_t) word;

static word *word_of(uint32_t *plain)
{
    return (word *)plain;
}

/* ---- the thread ---- */

/* Copy all fields after the words of the request. */
static void copy_snapshot(void)
{
    const size_t from = offsetof(filch_top, now_ns);

    memcpy((char *)top.page + from, (const char *)top.snapshot + from, top.size - from);
}

static void top_answer(uint32_t wanted)
{
    fi_top_snapshot(top.rt, top.snapshot, fi_load_relaxed(word_of(&top.page->part)));
    copy_snapshot();
    fi_init_set(word_of(&top.page->done), wanted);
    fi_futex_wake_shared(word_of(&top.page->done), INT_MAX);
}

static void *top_thread(void *none)
{
    uint32_t wanted, done = 0;

    (void)none;
    pthread_setname_np(pthread_self(), "filch-top");
    while (!fi_load_relaxed(&top.stopping)) {
        wanted = fi_init_get(word_of(&top.page->wanted));
        if (wanted == done) {
            fi_futex_wait_shared(word_of(&top.page->wanted), wanted);
            continue;
        }
        top_answer(wanted);
        done = wanted;
    }
    return NULL;
}

/* All signals are blocked: they belong to the program's own threads. */
static int start_thread(void)
{
    sigset_t all, mask;
    int e;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    e = pthread_create(&top.thread, NULL, top_thread, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return -e;
}

/* ---- the page ---- */

/* RLIMIT_FSIZE applies to this file as well. */
static int set_size(int fd, size_t size)
{
    fi_file_signals signals;
    int e;

    fi_file_signals_block(&signals);
    e = ftruncate(fd, (off_t)size) < 0 ? -errno : 0;
    fi_file_signals_unblock(&signals);
    if (e == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        e = -errno;
    return e;
}

static int map_sealed(int fd, size_t size)
{
    int e = set_size(fd, size);
    void *at;

    if (e < 0)
        return e;
    at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return -errno;
    top.page = at;
    return 0;
}

static int map_page(size_t size)
{
    int e;

    top.fd = memfd_create(FILCH_TOP_FILE, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (top.fd < 0)
        return -errno;
    e = map_sealed(top.fd, size);
    if (e < 0)
        close(top.fd);
    return e;
}

static void unmap_page(void)
{
    munmap(top.page, top.size);
    close(top.fd);
    fi_vm_unmap(top.snapshot, top.size);
    top.page = NULL;
}

static int make_page(size_t size)
{
    int e;

    top.size = size;
    top.snapshot = fi_vm_map(size);
    if (!top.snapshot)
        return -ENOMEM;
    e = map_page(size);
    if (e < 0)
        fi_vm_unmap(top.snapshot, size);
    return e;
}

static void write_head(filch_top *p, const fi_runtime *rt, size_t size)
{
    p->version = FILCH_TOP_VERSION;
    p->size = (uint32_t)size;
    p->pid = (int32_t)getpid();
    p->workers = rt->n_workers;
    p->began_ns = fi_clock_now();
    top.snapshot->began_ns = p->began_ns;
    p->magic = FILCH_TOP_MAGIC;
}

static int open_page(fi_runtime *rt)
{
    size_t size = FILCH_TOP_SIZE(rt->n_workers);
    int e = make_page(size);

    if (!top.page)
        return e;
    write_head(top.page, rt, size);
    top.rt = rt;
    fi_store_relaxed(&top.stopping, 0u);
    e = start_thread();
    if (e < 0)
        unmap_page();
    else
        rt->n_observer_threads++;
    return e;
}

/* After a fork() the page of the parent is still open.  It is closed, so that a reader does not
 * find it.  A program must not fail because it cannot be observed. */
static int top_begin(fi_runtime *rt)
{
    int e;

    if (top.page)
        unmap_page();
    e = rt->settings.observe.top ? open_page(rt) : 0;
    if (e < 0)
        fprintf(stderr, "filch: FILCH_TOP: cannot make the page for filch top: %s\n", strerror(-e));
    return 0;
}

/* Wake the thread and all readers.  A waiting reader sees that the runtime has stopped. */
static void top_end(fi_runtime *rt, bool has_run)
{
    (void)rt;
    (void)has_run;
    if (!top.page)
        return;
    fi_store_relaxed(&top.stopping, 1u);
    fi_fetch_add_relaxed(word_of(&top.page->wanted), 1u);
    fi_futex_wake_shared(word_of(&top.page->wanted), INT_MAX);
    pthread_join(top.thread, NULL);
    fi_init_set(word_of(&top.page->stopped), 1u);
    fi_fetch_add_relaxed(word_of(&top.page->done), 1u);
    fi_futex_wake_shared(word_of(&top.page->done), INT_MAX);
    unmap_page();
}

const fi_observer fi_observe_top = {.begin = top_begin, .end = top_end};
