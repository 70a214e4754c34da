/* Find the memory file of a process, map it, and copy it. */
#define _GNU_SOURCE
#include "ranks_table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SIZE_MAX_PART = 65536 }; /* bytes of a head or a row, also of later versions */

/* ---- finding it ---- */

static bool is_table(const char *path)
{
    static const char name[] = "/memfd:" FILCH_RANKS_NAME;
    char target[64];
    ssize_t n = readlink(path, target, sizeof target - 1);
    target[n > 0 ? n : 0] = '\0';
    return strncmp(target, name, sizeof name - 1) == 0 &&
           (target[sizeof name - 1] == '\0' || target[sizeof name - 1] == ' ');
}

static int find_descriptor(ranks_table *t)
{
    char folder[32];
    int e = -ENODATA;
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)t->pid);
    DIR *d = opendir(folder);
    if (!d)
        return errno == ESRCH ? -ENOENT : -errno;
    for (struct dirent *entry; e != 0 && (entry = readdir(d)) != NULL;) {
        snprintf(t->path, sizeof t->path, "%s/%.16s", folder, entry->d_name);
        if (is_table(t->path))
            e = 0;
    }
    closedir(d);
    return e;
}

/* ---- opening it ---- */

/* A file that can become shorter would end this process with SIGBUS. */
static int map_file(ranks_table *t, int fd)
{
    struct stat s;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &s) < 0 ||
        s.st_size < (off_t)sizeof t->head)
        return -EPROTO;
    t->inode = s.st_ino;
    t->size = (size_t)s.st_size;
    void *memory = mmap(NULL, t->size, PROT_READ, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return -errno;
    t->words = memory;
    return 0;
}

/* Each word is loaded at once, as it was stored. */
static void load_words(const ranks_table *t, size_t offset, void *to, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof *t->words) {
        uint64_t word = __atomic_load_n(&t->words[(offset + i) / sizeof word], __ATOMIC_RELAXED);
        memcpy((char *)to + i, &word, sizeof word);
    }
}

static bool head_is_valid(const filch_ranks_head *h, size_t size)
{
    return memcmp(h->magic, FILCH_RANKS_MAGIC, sizeof h->magic) == 0 &&
           h->version == FILCH_RANKS_VERSION && h->head_size >= sizeof *h &&
           h->head_size % 8 == 0 && h->head_size <= SIZE_MAX_PART &&
           h->row_size >= sizeof(filch_ranks_row) && h->row_size % 8 == 0 &&
           h->row_size <= SIZE_MAX_PART && h->rows <= FILCH_RANKS_ROWS && h->rows <= h->ranks &&
           h->head_size + (size_t)h->rows * h->row_size <= size;
}

int ranks_table_open(ranks_table *t, pid_t pid)
{
    *t = (ranks_table){.pid = pid};
    int e = find_descriptor(t);
    if (e < 0)
        return e;
    int fd = open(t->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    e = map_file(t, fd);
    close(fd);
    if (e < 0)
        return e;
    load_words(t, 0, &t->head, sizeof t->head);
    if (head_is_valid(&t->head, t->size))
        return 0;
    ranks_table_close(t);
    return -EPROTO;
}

void ranks_table_close(ranks_table *t)
{
    munmap((void *)(uintptr_t)t->words, t->size);
}

static const char *why_not_permitted(pid_t pid)
{
    static char text[160];
    char path[32];
    struct stat s;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (stat(path, &s) == 0 && s.st_uid != geteuid())
        snprintf(text, sizeof text,
                 "reading its descriptors is not permitted: it belongs to user %u; run filch as "
                 "that user or as root",
                 (unsigned)s.st_uid);
    else
        snprintf(text, sizeof text, "reading its descriptors is not permitted; run filch as root");
    return text;
}

const char *ranks_table_error(pid_t pid, int e)
{
    switch (e) {
    case -ENOENT:
        return "no such process";
    case -EACCES:
    case -EPERM:
        return why_not_permitted(pid);
    case -ENODATA:
        return "it has no table of ranks: it does not use filch-mpi, or its rank 0 is on another "
               "node";
    case -EPROTO:
        return "its table of ranks has another format; it may be of another version of Filch";
    default:
        return strerror(-e);
    }
}

/* ---- reading it ---- */

static int64_t monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The memory stays mapped when the process has ended. */
static bool is_published(const ranks_table *t)
{
    struct stat s;
    return is_table(t->path) && stat(t->path, &s) == 0 && s.st_ino == t->inode;
}

/* The sizes are those of the first read: the process may have changed them. */
bool ranks_table_read(const ranks_table *t, ranks_snapshot *to)
{
    if (!is_published(t))
        return false;
    to->head = t->head;
    load_words(t, offsetof(filch_ranks_head, sums), &to->head.sums, sizeof to->head.sums);
    for (uint32_t i = 0; i < t->head.rows; i++) {
        load_words(t, t->head.head_size + (size_t)i * t->head.row_size, &to->rows[i],
                   sizeof *to->rows);
        to->rows[i].host[FILCH_RANKS_HOST - 1] = '\0';
    }
    to->now_ns = monotonic_ns();
    return true;
}
