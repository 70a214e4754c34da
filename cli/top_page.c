/* Map the shared page of another process, check it, and request copies.  Called by top.c. */
#define _GNU_SOURCE
#include "top_page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OTHER_VERSION "it uses another version of Filch"

enum { PATH_SIZE = 64 + NAME_MAX, PATIENCE_S = 3 };

/* ---- finding it ---- */

static bool is_page(const char *path)
{
    char target[64];
    ssize_t n = readlink(path, target, sizeof target - 1);
    static const char begins[] = "/memfd:" FILCH_TOP_FILE;
    return n > 0 && strncmp(target, begins, sizeof begins - 1) == 0;
}

/* False: there is none, or the folder cannot be read, and errno says why. */
static bool find_page(pid_t pid, char *path)
{
    char folder[PATH_SIZE];
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)pid);
    DIR *d = opendir(folder);
    if (!d)
        return false;
    bool found = false;
    for (struct dirent *e; !found && (e = readdir(d)) != NULL;) {
        snprintf(path, PATH_SIZE, "%.32s/%s", folder, e->d_name);
        found = is_page(path);
    }
    closedir(d);
    errno = 0;
    return found;
}

bool top_has_page(pid_t pid)
{
    char path[PATH_SIZE];
    return find_page(pid, path);
}

/* ---- opening it ---- */

static const char *why_not_found(void)
{
    switch (errno) {
    case 0:
        return "not observable; start it with FILCH_TOP=1 in its environment";
    case ENOENT:
        return "no such process";
    default:
        return strerror(errno);
    }
}

/* The size must not change, because reading behind the end of a file raises SIGBUS. */
static const char *check_size(int fd, size_t *size)
{
    struct stat s;
    int seals = fcntl(fd, F_GET_SEALS);
    if (fstat(fd, &s) != 0)
        return strerror(errno);
    if ((size_t)s.st_size < sizeof(filch_top))
        return "its runtime is starting or stopping; try again";
    if (seals < 0 || !(seals & F_SEAL_SHRINK) ||
        (size_t)s.st_size > FILCH_TOP_SIZE(TOP_WORKERS_MAX))
        return OTHER_VERSION;
    *size = (size_t)s.st_size;
    return NULL;
}

static const char *check_head(top_page *p)
{
    const filch_top *t = p->shared;
    p->workers = __atomic_load_n(&t->workers, __ATOMIC_RELAXED);
    if (t->magic != FILCH_TOP_MAGIC || t->version != FILCH_TOP_VERSION || p->workers == 0 ||
        p->workers > TOP_WORKERS_MAX || p->size != FILCH_TOP_SIZE(p->workers) || t->size != p->size)
        return OTHER_VERSION;
    if (t->pid != p->pid)
        return "it was forked from a process that uses Filch, and does not use Filch itself";
    return NULL;
}

static void page_unmap(top_page *p)
{
    munmap(p->shared, p->size);
    free(p->at);
}

static const char *page_map(top_page *p)
{
    void *shared = mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
    if (shared == MAP_FAILED)
        return strerror(errno);
    p->shared = shared;
    p->at = malloc(p->size);
    const char *why = p->at ? check_head(p) : strerror(ENOMEM);
    if (why)
        page_unmap(p);
    return why;
}

static const char *page_lock_and_map(top_page *p)
{
    if (flock(p->fd, LOCK_EX | LOCK_NB) != 0)
        return "another filch top shows it already";
    const char *why = check_size(p->fd, &p->size);
    return why ? why : page_map(p);
}

const char *top_open(top_page *p, pid_t pid)
{
    char path[PATH_SIZE];
    p->pid = pid;
    if (!find_page(pid, path))
        return why_not_found();
    p->fd = open(path, O_RDWR | O_CLOEXEC);
    if (p->fd < 0)
        return strerror(errno);
    const char *why = page_lock_and_map(p);
    if (why)
        close(p->fd);
    return why;
}

void top_close(top_page *p)
{
    page_unmap(p);
    close(p->fd);
}

/* ---- copying it ---- */

static void end_text(char text[FILCH_TOP_TEXT])
{
    text[FILCH_TOP_TEXT - 1] = '\0';
}

static int64_t at_least_0(int64_t n)
{
    return n > 0 ? n : 0;
}

static void copy_page(top_page *p)
{
    filch_top *t = p->at;
    memcpy(t, p->shared, p->size);
    t->pid = (int32_t)p->pid;
    t->workers = p->workers;
    t->now_ns = at_least_0(t->now_ns);
    t->began_ns = at_least_0(t->began_ns);
    for (int i = 0; i < FILCH_TOP_KINDS; i++)
        end_text(t->kind[i].what);
    for (int i = 0; i < FILCH_TOP_WAITS; i++) {
        end_text(t->wait[i].name);
        end_text(t->wait[i].what);
        t->wait[i].for_ns = at_least_0(t->wait[i].for_ns);
    }
    for (uint32_t i = 0; i < p->workers; i++)
        end_text(t->worker[i].runs);
}

/* ---- asking ---- */

static void futex_wake(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* A second at a time, as the process may end without a word. */
static void sleep_on(uint32_t *word, uint32_t seen)
{
    struct timespec second = {.tv_sec = 1};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &second, NULL, 0);
}

static bool is_over(const top_page *p)
{
    return __atomic_load_n(&p->shared->stopped, __ATOMIC_ACQUIRE) || !top_has_page(p->pid);
}

top_answer top_ask(top_page *p, filch_top_part part)
{
    filch_top *t = p->shared;
    time_t began = time(NULL);
    if (__atomic_load_n(&t->stopped, __ATOMIC_ACQUIRE))
        return TOP_OVER;
    t->part = part;
    uint32_t wanted = __atomic_add_fetch(&t->wanted, 1, __ATOMIC_RELEASE);
    futex_wake(&t->wanted);
    for (uint32_t done; (done = __atomic_load_n(&t->done, __ATOMIC_ACQUIRE)) != wanted;) {
        if (is_over(p))
            return TOP_OVER;
        if (time(NULL) - began > PATIENCE_S)
            return TOP_SILENT;
        sleep_on(&t->done, done);
    }
    copy_page(p);
    return TOP_ANSWERED;
}
