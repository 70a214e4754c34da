/* publish_ranks CASE: publish a table of ranks until the standard input ends, and print "ready".
 *
 *   ranks         3 ranks, of which 2 are heard of; the first is this process, the second its child
 *   many          5,000 ranks: sums only
 *   short, sizes, version, magic, unsealed, rows
 *                 tables that are not valid
 *   none          no table */
#define _GNU_SOURCE
#include "observe/ranks_page.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BEAT_MS = 50 };

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Waits for a beat.  False: the input has ended. */
static bool wait_beat(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

    return poll(&input, 1, BEAT_MS) == 0;
}

/* ---- valid tables ---- */

/* Since the start, rank 0 processes 1,000 items per second, and rank 1 half as many. */
static void update_rows(fi_ranks_page *page, int64_t started_ns, pid_t child)
{
    int64_t ns = now_ns() - started_ns;
    filch_ranks_row row = {.pid = (uint32_t)getpid(),
                           .host = "node\x1b[2J\xff",
                           .workers = 4,
                           .lanes = 2,
                           .items = (uint64_t)(ns / 1000000),
                           .loots_in = 7,
                           .bytes_in = 70000,
                           .asks = 11,
                           .hungry_ns = (uint64_t)(ns / 4),
                           .heard_ns = (uint64_t)(started_ns + ns)};

    fi_ranks_page_update(page, &row);
    row.rank = 1;
    row.pid = (uint32_t)child;
    row.lanes = 0;
    row.items /= 2;
    fi_ranks_page_update(page, &row);
}

static void update_sums(fi_ranks_page *page, int64_t started_ns)
{
    int64_t ns = now_ns() - started_ns;
    filch_ranks_sums sums = {.updated_ns = (uint64_t)(started_ns + ns),
                             .run = 2,
                             .run_started_ns = (uint64_t)started_ns,
                             .items = (uint64_t)(ns / 1000000 * 3 / 2),
                             .loots = 14,
                             .bytes = 140000,
                             .busy = 1234,
                             .silence_ns = 1500000000};

    fi_ranks_page_sums(page, &sums);
}

static void publish(unsigned ranks)
{
    int64_t started_ns = now_ns();
    fi_ranks_page *page = fi_ranks_page_open(ranks, started_ns);
    pid_t child = fork(); /* it has the table, too */

    if (child == 0) {
        while (wait_beat())
            ;
        _exit(0);
    }
    printf("%d\nready\n", (int)child);
    fflush(stdout);
    do {
        update_rows(page, started_ns, child);
        update_sums(page, started_ns);
    } while (wait_beat());
    fi_ranks_page_close(page);
}

/* ---- invalid tables ---- */

static filch_ranks_head wrong_head(const char *what)
{
    filch_ranks_head head = {.version = FILCH_RANKS_VERSION,
                             .head_size = sizeof head,
                             .row_size = sizeof(filch_ranks_row),
                             .ranks = 1,
                             .rows = 1};

    memcpy(head.magic, FILCH_RANKS_MAGIC, sizeof head.magic);
    if (strcmp(what, "sizes") == 0)
        head.row_size = 0xfffffff8;
    if (strcmp(what, "version") == 0)
        head.version++;
    if (strcmp(what, "magic") == 0)
        head.magic[0] = 'f';
    if (strcmp(what, "rows") == 0)
        head.rows = head.ranks = 1000;
    return head;
}

static void publish_wrong(const char *what)
{
    filch_ranks_head head = wrong_head(what);
    size_t size = strcmp(what, "short") == 0 ? sizeof head / 2 : sizeof head;
    int fd = memfd_create(FILCH_RANKS_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0 || write(fd, &head, size) < 0 ||
        ftruncate(fd, (off_t)(strcmp(what, "short") == 0 ? size : 4096)) < 0)
        exit(1);
    if (strcmp(what, "unsealed") != 0)
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
    printf("ready\n");
    fflush(stdout);
    while (wait_beat())
        ;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "ranks") == 0 || strcmp(what, "many") == 0) {
        publish(what[0] == 'r' ? 3 : 5000);
    } else if (strcmp(what, "none") != 0) {
        publish_wrong(what);
    } else {
        printf("ready\n");
        fflush(stdout);
        while (wait_beat())
            ;
    }
    return 0;
}
