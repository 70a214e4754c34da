/* A memory file that other processes open in /proc/PID/fd.
 *
 * Each word is stored with a relaxed atomic operation, so a reader finds an old or a new value.
 * Readers are in other processes, and only print.  They make no decision that depends on two words,
 * so no order between words is needed: a row of which one half is a second newer is still a correct
 * row. */
#define _GNU_SOURCE
#include "observe/ranks_page.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef uint64_t word;

struct fi_ranks_page {
    unsigned rows;
    word *memory;
    size_t size;
    int fd; /* kept open, because readers find the table by it */
    dev_t device;
    ino_t inode;
};

static_assert(sizeof(filch_ranks_head) % sizeof(word) == 0 &&
                  sizeof(filch_ranks_row) % sizeof(word) == 0 &&
                  offsetof(filch_ranks_head, sums) % sizeof(word) == 0,
              "all parts consist of words");

/* offset: in the table. */
static void store_words(fi_ranks_page *page, size_t offset, const void *from, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof(word)) {
        word w;
        memcpy(&w, (const char *)from + i, sizeof w);
        __atomic_store_n(&page->memory[(offset + i) / sizeof w], w, __ATOMIC_RELAXED);
    }
}

/* ---- the memory file ---- */

/* The seals allow readers to map the file: it cannot become shorter. */
static int create_file(fi_ranks_page *page)
{
    struct stat s;

    page->fd = memfd_create(FILCH_RANKS_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (page->fd < 0)
        return -errno;
    if (ftruncate(page->fd, (off_t)page->size) < 0 ||
        fcntl(page->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0 ||
        fstat(page->fd, &s) < 0)
        return -errno;
    page->device = s.st_dev;
    page->inode = s.st_ino;
    page->memory = mmap(NULL, page->size, PROT_READ | PROT_WRITE, MAP_SHARED, page->fd, 0);
    if (page->memory == MAP_FAILED)
        return -errno;
    return 0;
}

/* The program may have closed all descriptors that it does not know.  The number then may belong to
 * a file of the program. */
static void close_file(const fi_ranks_page *page)
{
    struct stat s;

    if (page->fd >= 0 && fstat(page->fd, &s) == 0 && s.st_dev == page->device &&
        s.st_ino == page->inode)
        close(page->fd);
}

/* ---- the table ---- */

static void write_head(fi_ranks_page *page, unsigned ranks, int64_t started_ns)
{
    filch_ranks_head head = {.version = FILCH_RANKS_VERSION,
                             .head_size = sizeof head,
                             .row_size = sizeof(filch_ranks_row),
                             .ranks = ranks,
                             .rows = page->rows,
                             .pid = (uint32_t)getpid(),
                             .started_ns = (uint64_t)started_ns};

    memcpy(head.magic, FILCH_RANKS_MAGIC, sizeof head.magic);
    store_words(page, 0, &head, sizeof head);
}

fi_ranks_page *fi_ranks_page_open(unsigned ranks, int64_t started_ns)
{
    fi_ranks_page *page = calloc(1, sizeof *page);

    if (!page)
        return NULL;
    page->rows = ranks <= FILCH_RANKS_ROWS ? ranks : 0;
    page->size = sizeof(filch_ranks_head) + page->rows * sizeof(filch_ranks_row);
    if (create_file(page) < 0) {
        if (page->fd >= 0)
            close(page->fd);
        free(page);
        return NULL;
    }
    write_head(page, ranks, started_ns);
    return page;
}

void fi_ranks_page_update(fi_ranks_page *page, const filch_ranks_row *row)
{
    if (page && row->rank < page->rows)
        store_words(page, sizeof(filch_ranks_head) + row->rank * sizeof *row, row, sizeof *row);
}

void fi_ranks_page_sums(fi_ranks_page *page, const filch_ranks_sums *sums)
{
    if (page)
        store_words(page, offsetof(filch_ranks_head, sums), sums, sizeof *sums);
}

void fi_ranks_page_close(fi_ranks_page *page)
{
    if (!page)
        return;
    munmap(page->memory, page->size);
    close_file(page);
    free(page);
}
