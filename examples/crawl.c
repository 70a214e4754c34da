/* crawl: a web crawler.  It shows a semaphore that limits parallel fetches, deadlines and
 * retries.  Each page of a level has a fiber; without HOST, it crawls a test site in the same
 * process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* getopt, memmem */
#endif
#include "server.h"
#include "test_site.h"

#include <filch/filch.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "usage: crawl [-n PAGES] [-k PARALLEL] [-d DEPTH] [-t SECONDS] [-r "
                            "RETRIES] [HOST PORT [PATH]]\n"
                            "  -n PAGES    max number of pages (1000)\n"
                            "  -k PARALLEL max number of parallel fetches (20)\n"
                            "  -d DEPTH    max number of links from PATH (100)\n"
                            "  -t SECONDS  timeout of a page (5)\n"
                            "  -r RETRIES  max number of retries (2)\n"
                            "Without HOST, crawl starts and crawls a test site of PAGES pages.\n";

#define PATH_SIZE  128
#define PAGE_MAX   (256 << 10)
#define BUCKETS    1024
#define RETRY_WAIT FILCH_MS(5) /* doubles with each retry */

typedef struct page {
    struct page *next;  /* in the hash bucket */
    struct page *after; /* in the level */
    size_t n;
    char path[PATH_SIZE];
} page;

static struct {
    unsigned pages, parallel, depth, retries;
    double seconds;
    const char *host, *path;
    int port;
} options = {1000, 20, 100, 2, 5, NULL, "/", 0};

static filch_sem slots;
static filch_wait_group level;

/* Protected by lock. */
static filch_mutex lock;
static page *seen[BUCKETS], *next_level;
static struct {
    unsigned pages, fetched, failed, retries;
    unsigned long bytes;
} sum;

/* ---- pages to visit ---- */

static unsigned bucket_of(const char *path, size_t n)
{
    unsigned hash = 2166136261u;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)path[i]) * 16777619u;
    return hash % BUCKETS;
}

/* [lock held] Add a page to the next level, unless it is known or the limit is reached. */
static void add_page(const char *path, size_t n)
{
    page **bucket = &seen[bucket_of(path, n)], *p = *bucket;

    while (p && (p->n != n || memcmp(p->path, path, n) != 0))
        p = p->next;
    if (p || sum.pages == options.pages || (p = malloc(sizeof *p)) == NULL)
        return;
    *p = (page){.next = *bucket, .after = next_level, .n = n};
    memcpy(p->path, path, n);
    *bucket = next_level = p;
    sum.pages++;
}

static void add_path(const char *path, size_t n)
{
    if (n >= PATH_SIZE)
        return;
    filch_mutex_lock(&lock);
    add_page(path, n);
    filch_mutex_unlock(&lock);
}

/* Add the links to the same server: href="/..." */
static void add_links(const char *text, size_t n)
{
    static const char mark[] = "href=\"";
    const char *at = text, *end = text + n, *quote;

    while ((at = memmem(at, (size_t)(end - at), mark, sizeof mark - 1)) != NULL) {
        at += sizeof mark - 1;
        quote = memchr(at, '"', (size_t)(end - at));
        if (!quote)
            break;
        if (*at == '/' && !memchr(at, ' ', (size_t)(quote - at)))
            add_path(at, (size_t)(quote - at));
        at = quote;
    }
}

/* ---- one page ---- */

/* Check a complete response.  *at becomes the offset of its body. */
static int body_of(const char *text, size_t n, size_t *at)
{
    static const char length[] = "Content-Length: ";
    const char *end = memmem(text, n, "\r\n\r\n", 4), *field;

    if (n < 12 || !end || memcmp(text, "HTTP/1.1 ", 9) != 0)
        return -EPROTO;
    if (text[9] != '2')
        return text[9] == '5' ? -EAGAIN : -ENOENT;
    *at = (size_t)(end - text) + 4;
    field = memmem(text, *at, length, sizeof length - 1);
    if (!field)
        return -EPROTO;
    return strtoul(field + sizeof length - 1, NULL, 10) == n - *at ? 0 : -EPROTO;
}

static ssize_t send_request(int fd, const page *p, char *text, int64_t deadline)
{
    char request[PATH_SIZE + 128];
    int n = snprintf(request, sizeof request,
                     "GET %s HTTP/1.1\r\nHost: %.64s\r\nConnection: close\r\n\r\n", p->path,
                     options.host);
    ssize_t e = filch_write_all_until(fd, request, (size_t)n, deadline);

    return e < 0 ? e : filch_read_all_until(fd, text, PAGE_MAX, deadline);
}

/* Returns: the size of the body; -ENOENT: the page does not exist; another error: try again. */
static ssize_t fetch_into(const page *p, char *text)
{
    int64_t deadline = filch_now() + (int64_t)(options.seconds * 1e9);
    int fd = filch_connect_until(options.host, options.port, deadline), e;
    size_t at = 0;
    ssize_t n;

    if (fd < 0)
        return fd;
    n = send_request(fd, p, text, deadline);
    filch_close(fd);
    if (n < 0)
        return n;
    e = body_of(text, (size_t)n, &at);
    if (e < 0)
        return e;
    add_links(text + at, (size_t)n - at);
    return n - (ssize_t)at;
}

/* Allocate the buffer only while holding a slot, to bound memory. */
static ssize_t fetch_once(const page *p)
{
    ssize_t n = -ENOMEM;
    char *text;

    filch_sem_wait(&slots);
    text = malloc(PAGE_MAX);
    if (text)
        n = fetch_into(p, text);
    free(text);
    filch_sem_post(&slots);
    return n;
}

static void fetch(void *arg)
{
    const page *p = arg;
    unsigned retries = 0;
    ssize_t n;

    while ((n = fetch_once(p)) < 0 && n != -ENOENT && retries < options.retries)
        filch_sleep(RETRY_WAIT << retries++);
    filch_mutex_lock(&lock);
    sum.fetched += n >= 0;
    sum.failed += n < 0;
    sum.retries += retries;
    sum.bytes += n >= 0 ? (unsigned long)n : 0;
    filch_mutex_unlock(&lock);
    filch_wait_group_done(&level);
}

/* ---- all pages ---- */

static void fetch_level(page *first)
{
    for (page *p = first, *after; p; p = after) {
        after = p->after;
        filch_wait_group_add(&level, 1);
        if (filch_go(fetch, p) < 0)
            fetch(p);
    }
    filch_wait_group_wait(&level);
}

/* Breadth first, so that the depth of a page does not depend on the schedule. */
static unsigned crawl(void)
{
    unsigned depth = 0;
    page *first;

    add_path(options.path, strlen(options.path));
    while ((first = next_level) != NULL && depth <= options.depth) {
        next_level = NULL;
        fetch_level(first);
        depth++;
    }
    return depth - 1;
}

static void free_pages(void)
{
    for (unsigned i = 0; i < BUCKETS; i++)
        for (page *p = seen[i], *next; p; p = next) {
            next = p->next;
            free(p);
        }
}

static int run(int argc, char **argv)
{
    bool own = !options.host;
    unsigned depth;

    (void)argc, (void)argv;
    if (own) {
        options.host = "127.0.0.1";
        options.path = "/0";
        options.port = test_site_start(options.pages);
        if (options.port < 0)
            server_fail("crawl", "cannot start the test site", options.port);
    }
    filch_sem_post_n(&slots, options.parallel);
    depth = crawl();
    printf("%u pages, %lu bytes, %u links deep; %u failed, %u tries again\n", sum.fetched,
           sum.bytes, depth, sum.failed, sum.retries);
    if (own)
        printf("%u at most at a time\n", test_site_stop());
    free_pages();
    return sum.fetched == 0;
}

static bool set_option(int option, const char *text)
{
    static const char what[] = "number";

    if (option == 'n')
        options.pages = (unsigned)server_number("crawl", what, text, 1, 1e6);
    else if (option == 'k')
        options.parallel = (unsigned)server_number("crawl", what, text, 1, 1e4);
    else if (option == 'd')
        options.depth = (unsigned)server_number("crawl", what, text, 0, 1e6);
    else if (option == 't')
        options.seconds = server_number("crawl", what, text, 0.001, 1e6);
    else if (option == 'r')
        options.retries = (unsigned)server_number("crawl", what, text, 0, 10);
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    for (int option; (option = getopt(argc, argv, "hn:k:d:t:r:")) != -1;) {
        if (option == 'h')
            return fputs(usage, stdout) < 0;
        if (!set_option(option, optarg))
            return 2;
    }
    argc -= optind;
    argv += optind;
    if (argc == 1 || argc > 3 || (argc == 3 && argv[2][0] != '/')) {
        fprintf(stderr, "crawl: expected HOST PORT [/PATH] or no argument; see crawl -h\n");
        return 2;
    }
    options.host = argv[0];
    options.port = argc > 1 ? (int)server_number("crawl", "port", argv[1], 1, 65535) : 0;
    options.path = argc > 2 ? argv[2] : "/";
    return filch_main(run, argc, argv);
}
