/* The table of ranks has its documented layout, and other processes can read it. */
#define _GNU_SOURCE
#include "check.h"

#include "observe/ranks_page.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The descriptor of the table of this process; -1: there is none. */
static int find_table(void)
{
    DIR *d = opendir("/proc/self/fd");
    int found = -1;

    CHECK(d != NULL);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char link[300], target[64];
        snprintf(link, sizeof link, "/proc/self/fd/%s", e->d_name);
        ssize_t n = readlink(link, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        if (strncmp(target, "/memfd:" FILCH_RANKS_NAME, strlen("/memfd:" FILCH_RANKS_NAME)) == 0)
            found = (int)strtol(e->d_name, NULL, 10);
    }
    closedir(d);
    return found;
}

static void rows_and_sums_are_published(void **state)
{
    fi_ranks_page *page = fi_ranks_page_open(3, 77);
    filch_ranks_row row = {.rank = 2, .pid = 5, .host = "node", .lanes = 4, .asks = 9}, found;
    filch_ranks_sums sums = {.run = 1, .items = 1000};
    filch_ranks_head head;
    int fd = find_table();

    (void)state;
    CHECK(page != NULL);
    CHECK(fd >= 0);
    fi_ranks_page_update(page, &row);
    fi_ranks_page_sums(page, &sums);
    row.rank = 3; /* there is no such row */
    fi_ranks_page_update(page, &row);
    CHECK_INT(pread(fd, &head, sizeof head, 0), sizeof head);
    CHECK(memcmp(head.magic, FILCH_RANKS_MAGIC, 8) == 0);
    CHECK_INT(head.version, FILCH_RANKS_VERSION);
    CHECK_INT(head.ranks, 3);
    CHECK_INT(head.rows, 3);
    CHECK_INT(head.pid, getpid());
    CHECK_INT(head.started_ns, 77);
    CHECK_INT(head.sums.items, 1000);
    CHECK_INT(pread(fd, &found, sizeof found, head.head_size + 2 * (off_t)head.row_size),
              sizeof found);
    row.rank = 2;
    CHECK(memcmp(&found, &row, sizeof row) == 0);
    CHECK(ftruncate(fd, 0) < 0); /* sealed */
    CHECK(ftruncate(fd, 1 << 20) < 0);
    fi_ranks_page_close(page);
    CHECK_INT(find_table(), -1);
}

static void many_ranks_have_only_sums(void **state)
{
    fi_ranks_page *page = fi_ranks_page_open(FILCH_RANKS_ROWS + 1, 1);
    filch_ranks_row row = {.rank = 0, .lanes = 1};
    filch_ranks_head head;
    struct stat s;
    int fd = find_table();

    (void)state;
    fi_ranks_page_update(page, &row);
    CHECK_INT(pread(fd, &head, sizeof head, 0), sizeof head);
    CHECK_INT(head.ranks, FILCH_RANKS_ROWS + 1);
    CHECK_INT(head.rows, 0);
    CHECK_INT(fstat(fd, &s), 0);
    CHECK_INT(s.st_size, sizeof head);
    fi_ranks_page_close(page);
    page = fi_ranks_page_open(FILCH_RANKS_ROWS, 1);
    row.rank = FILCH_RANKS_ROWS - 1;
    fi_ranks_page_update(page, &row);
    fi_ranks_page_close(page);
}

/* A program may close all descriptors, and then use the number for a file of its own. */
static void a_descriptor_of_the_program_stays_open(void **state)
{
    fi_ranks_page *page = fi_ranks_page_open(2, 1);
    int fd = find_table(), own;

    (void)state;
    close(fd);
    own = open("/dev/null", O_RDONLY);
    CHECK_INT(own, fd);
    fi_ranks_page_close(page);
    CHECK(fcntl(own, F_GETFD) >= 0);
    close(own);
}

static void no_table_is_accepted(void **state)
{
    filch_ranks_row row = {0};
    filch_ranks_sums sums = {0};

    (void)state;
    fi_ranks_page_update(NULL, &row);
    fi_ranks_page_sums(NULL, &sums);
    fi_ranks_page_close(NULL);
}

CHECK_MAIN(rows_and_sums_are_published, many_ranks_have_only_sums,
           a_descriptor_of_the_program_stays_open, no_table_is_accepted)
