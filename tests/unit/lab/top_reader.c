/* The page of a process that `filch top` reads may be hostile: any content is refused or shown
 * without harm. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"
#include "seed.h"

#include "base/rng.h"
#include "top_page.h"
#include "top_print.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORKERS = 3, ROUNDS = 300, ALL_SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

/* ---- the page of a hostile process, which is this one ---- */

typedef struct hostile {
    int fd;
    filch_top *page;
    size_t size;
    uint64_t seed;
} hostile;

static hostile make_page(size_t size, int seals)
{
    hostile h = {.fd = memfd_create(FILCH_TOP_FILE, MFD_CLOEXEC | MFD_ALLOW_SEALING), .size = size};

    CHECK(h.fd >= 0);
    CHECK_INT(ftruncate(h.fd, (off_t)size), 0);
    if (seals)
        CHECK_INT(fcntl(h.fd, F_ADD_SEALS, seals), 0);
    h.page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, h.fd, 0);
    CHECK(h.page != MAP_FAILED);
    return h;
}

static void write_head(filch_top *p, size_t size, uint32_t workers)
{
    p->magic = FILCH_TOP_MAGIC;
    p->version = FILCH_TOP_VERSION;
    p->size = (uint32_t)size;
    p->pid = (int32_t)getpid();
    p->workers = workers;
}

static hostile make_good_page(uint32_t workers, int seals)
{
    hostile h = make_page(FILCH_TOP_SIZE(workers), seals);

    write_head(h.page, h.size, workers);
    return h;
}

static void drop_page(hostile *h)
{
    munmap(h->page, h->size);
    close(h->fd);
}

static bool is_refused(void)
{
    top_page p;
    const char *why = top_open(&p, getpid());

    if (!why)
        top_close(&p);
    return why != NULL;
}

/* ---- refused ---- */

static void invalid_sizes_and_headers_are_refused(void **state)
{
    static const size_t sizes[] = {1,
                                   sizeof(filch_top) - 1,
                                   sizeof(filch_top) + 1,
                                   FILCH_TOP_SIZE(WORKERS) - 1,
                                   FILCH_TOP_SIZE(WORKERS) + 1,
                                   FILCH_TOP_SIZE((size_t)TOP_WORKERS_MAX + 1),
                                   (size_t)1 << 32};
    static const uint32_t numbers[] = {0, 1, WORKERS - 1, WORKERS + 1, TOP_WORKERS_MAX, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        hostile h = make_page(sizes[i], ALL_SEALS);
        if (sizes[i] >= sizeof(filch_top))
            write_head(h.page, h.size, WORKERS);
        CHECK(is_refused());
        drop_page(&h);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        hostile h = make_good_page(WORKERS, ALL_SEALS);
        h.page->workers = numbers[i];
        CHECK(is_refused());
        drop_page(&h);
    }
}

static void an_unsealed_page_is_refused(void **state)
{
    hostile h = make_good_page(WORKERS, 0);

    (void)state;
    CHECK(is_refused());
    drop_page(&h);
    h = make_good_page(WORKERS, F_SEAL_SHRINK);
    CHECK(!is_refused());
    drop_page(&h);
}

/* ---- shown ---- */

static atomic_bool is_over;

static void fill_with_random_bytes(hostile *h, fi_rng *r)
{
    uint64_t *words = (uint64_t *)(void *)&h->page->now_ns;
    size_t n = (h->size - offsetof(filch_top, now_ns)) / sizeof *words;

    for (size_t i = 0; i < n; i++)
        words[i] = fi_rng_below(r, 4) == 0 ? UINT64_MAX : fi_rng_next(r);
}

/* Answers each request with random bytes and changes the header as well. */
static void *answer(void *arg)
{
    hostile *h = arg;
    fi_rng r;

    fi_rng_seed(&r, h->seed);
    while (!atomic_load(&is_over)) {
        uint32_t wanted = __atomic_load_n(&h->page->wanted, __ATOMIC_ACQUIRE);
        fill_with_random_bytes(h, &r);
        h->page->workers = (uint32_t)fi_rng_next(&r);
        h->page->size = (uint32_t)fi_rng_next(&r);
        __atomic_store_n(&h->page->done, wanted, __ATOMIC_RELEASE);
        syscall(SYS_futex, &h->page->done, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
    return NULL;
}

static void check_is_safe(const filch_top *t)
{
    CHECK_INT(t->workers, WORKERS);
    for (int i = 0; i < FILCH_TOP_KINDS; i++)
        CHECK(memchr(t->kind[i].what, '\0', FILCH_TOP_TEXT) != NULL);
    for (int i = 0; i < FILCH_TOP_WAITS; i++)
        CHECK(memchr(t->wait[i].name, '\0', FILCH_TOP_TEXT) != NULL &&
              memchr(t->wait[i].what, '\0', FILCH_TOP_TEXT) != NULL);
    for (int i = 0; i < WORKERS; i++)
        CHECK(memchr(t->worker[i].runs, '\0', FILCH_TOP_TEXT) != NULL);
}

static void random_content_can_be_shown(void **state)
{
    hostile h = make_good_page(WORKERS, ALL_SEALS);
    static top_shares shares[TOP_WORKERS_MAX];
    filch_top *before = malloc(h.size);
    FILE *nowhere = fopen("/dev/null", "w");
    pthread_t thread;
    top_page p;

    (void)state;
    CHECK(nowhere != NULL && before != NULL);
    CHECK(top_open(&p, getpid()) == NULL);
    memcpy(before, p.shared, p.size);
    atomic_store(&is_over, false);
    h.seed = seed_get();
    CHECK_INT(pthread_create(&thread, NULL, answer, &h), 0);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_INT(top_ask(&p, FILCH_TOP_ALL), TOP_ANSWERED);
        check_is_safe(p.at);
        top_print(nowhere, before, p.at, shares, "program", 200, 0);
        memcpy(before, p.at, p.size);
    }
    atomic_store(&is_over, true);
    CHECK_INT(pthread_join(thread, NULL), 0);
    top_close(&p);
    fclose(nowhere);
    free(before);
    drop_page(&h);
}

CHECK_MAIN(invalid_sizes_and_headers_are_refused, an_unsealed_page_is_refused,
           random_content_can_be_shown)
