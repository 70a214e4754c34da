/* Follows the links of a web server: a fiber for each page of a level, of which some at a time fetch theirs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* getopt, memmem */
#endif
#include "little_web.h"
#include "server.h"

#include <filch/filch.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: crawl [-n PAGES] [-k AT-ONCE] [-d DEPTH] [-t SECONDS] [-r RETRIES] [HOST PORT [PATH]]\n"
    "  -n PAGES    how many at most (1000)\n"
    "  -k AT-ONCE  how many to fetch at a time (20)\n"
    "  -d DEPTH    how many links from PATH (100)\n"
    "  -t SECONDS  how long a page may take (5)\n"
    "  -r RETRIES  how often to try again (2)\n"
    "Without HOST it crawls a little web of PAGES pages that it makes itself.\n";

#define PATH_ROOM  128
#define PAGE_MAX   (256 << 10)
#define BUCKETS    1024
#define RETRY_WAIT FILCH_MS(5) /* twice as long each time */

typedef struct page {
    struct page *next;  /* in its bucket */
    struct page *after; /* in its level */
    size_t n;
    char path[PATH_ROOM];
} page;

static struct {
    unsigned pages, at_once, depth, retries;
    double seconds;
    const char *host, *path;
    int port;
} want = {1000, 20, 100, 2, 5, NULL, "/", 0};

static filch_sem places;
static filch_wait_group level;

/* Below: under the lock. */
static filch_mutex lock;
static page *seen[BUCKETS], *next_level;
static struct {
    unsigned pages, fetched, failed, retries;
    unsigned long bytes;
} sum;

/* ---- which pages ---- */

static unsigned bucket_of(const char *path, size_t n)
{
    unsigned hash = 2166136261u;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)path[i]) * 16777619u;
    return hash % BUCKETS;
}

/* [lock] Unless it is there already, or there are enough. */
static void add(const char *path, size_t n)
{
    page **bucket = &seen[bucket_of(path, n)], *p = *bucket;

    while (p && (p->n != n || memcmp(p->path, path, n) != 0))
        p = p->next;
    if (p || sum.pages == want.pages || (p = malloc(sizeof *p)) == NULL)
        return;
    *p = (page){.next = *bucket, .after = next_level, .n = n};
    memcpy(p->path, path, n);
    *bucket = next_level = p;
    sum.pages++;
}

static void note(const char *path, size_t n)
{
    if (n >= PATH_ROOM)
        return;
    filch_mutex_lock(&lock);
    add(path, n);
    filch_mutex_unlock(&lock);
}

/* Those on the same server: href="/..." */
static void note_links(const char *text, size_t n)
{
    static const char mark[] = "href=\"";
    const char *at = text, *end = text + n, *quote;

    while ((at = memmem(at, (size_t)(end - at), mark, sizeof mark - 1)) != NULL) {
        at += sizeof mark - 1;
        quote = memchr(at, '"', (size_t)(end - at));
        if (!quote)
            break;
        if (*at == '/' && !memchr(at, ' ', (size_t)(quote - at)))
            note(at, (size_t)(quote - at));
        at = quote;
    }
}

/* ---- one page ---- */

/* An answer that has come to its end: where the body begins. */
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

static ssize_t ask(int fd, const page *p, char *text, int64_t deadline)
{
    char request[PATH_ROOM + 128];
    int n =
        snprintf(request, sizeof request,
                 "GET %s HTTP/1.1\r\nHost: %.64s\r\nConnection: close\r\n\r\n", p->path, want.host);
    ssize_t e = filch_write_all_until(fd, request, (size_t)n, deadline);

    return e < 0 ? e : filch_read_all_until(fd, text, PAGE_MAX, deadline);
}

/* Returns: how many bytes it has; -ENOENT: it never will; another error: who knows. */
static ssize_t fetch_into(const page *p, char *text)
{
    int64_t deadline = filch_now() + (int64_t)(want.seconds * 1e9);
    int fd = filch_connect_until(want.host, want.port, deadline), e;
    size_t at = 0;
    ssize_t n;

    if (fd < 0)
        return fd;
    n = ask(fd, p, text, deadline);
    filch_close(fd);
    if (n < 0)
        return n;
    e = body_of(text, (size_t)n, &at);
    if (e < 0)
        return e;
    note_links(text + at, (size_t)n - at);
    return n - (ssize_t)at;
}

/* Memory for a page only while there is a place for it. */
static ssize_t fetch_once(const page *p)
{
    ssize_t n = -ENOMEM;
    char *text;

    filch_sem_wait(&places);
    text = malloc(PAGE_MAX);
    if (text)
        n = fetch_into(p, text);
    free(text);
    filch_sem_post(&places);
    return n;
}

static void fetch(void *arg)
{
    const page *p = arg;
    unsigned retries = 0;
    ssize_t n;

    while ((n = fetch_once(p)) < 0 && n != -ENOENT && retries < want.retries)
        filch_sleep(RETRY_WAIT << retries++);
    filch_mutex_lock(&lock);
    sum.fetched += n >= 0;
    sum.failed += n < 0;
    sum.retries += retries;
    sum.bytes += n >= 0 ? (unsigned long)n : 0;
    filch_mutex_unlock(&lock);
    filch_wait_group_done(&level);
}

/* ---- all of them ---- */

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

/* Level by level, so that a page is as deep as its shortest way, whoever is the first to find it. */
static unsigned crawl(void)
{
    unsigned depth = 0;
    page *first;

    note(want.path, strlen(want.path));
    while ((first = next_level) != NULL && depth <= want.depth) {
        next_level = NULL;
        fetch_level(first);
        depth++;
    }
    return depth - 1;
}

static void forget_pages(void)
{
    for (unsigned i = 0; i < BUCKETS; i++)
        for (page *p = seen[i], *next; p; p = next) {
            next = p->next;
            free(p);
        }
}

static void run(void *arg)
{
    bool own = !want.host;
    unsigned depth;

    (void)arg;
    if (own) {
        want.host = "127.0.0.1";
        want.path = "/0";
        want.port = web_start(want.pages);
        if (want.port < 0)
            server_fail("crawl", "no web", want.port);
    }
    filch_sem_post_n(&places, want.at_once);
    depth = crawl();
    printf("%u pages, %lu bytes, %u links deep; %u failed, %u tries again\n", sum.fetched,
           sum.bytes, depth, sum.failed, sum.retries);
    if (own)
        printf("%u at most at a time\n", web_stop());
    forget_pages();
}

static bool set_option(int option, const char *text)
{
    static const char what[] = "number";

    if (option == 'n')
        want.pages = (unsigned)server_number("crawl", what, text, 1, 1e6);
    else if (option == 'k')
        want.at_once = (unsigned)server_number("crawl", what, text, 1, 1e4);
    else if (option == 'd')
        want.depth = (unsigned)server_number("crawl", what, text, 0, 1e6);
    else if (option == 't')
        want.seconds = server_number("crawl", what, text, 0.001, 1e6);
    else if (option == 'r')
        want.retries = (unsigned)server_number("crawl", what, text, 0, 10);
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    int e;

    for (int option; (option = getopt(argc, argv, "hn:k:d:t:r:")) != -1;) {
        if (option == 'h')
            return fputs(usage, stdout) < 0;
        if (!set_option(option, optarg))
            return 2;
    }
    argc -= optind;
    argv += optind;
    if (argc == 1 || argc > 3 || (argc == 3 && argv[2][0] != '/')) {
        fprintf(stderr, "crawl: HOST PORT /PATH or nothing is needed; crawl -h says more\n");
        return 2;
    }
    want.host = argv[0];
    want.port = argc > 1 ? (int)server_number("crawl", "port", argv[1], 1, 65535) : 0;
    want.path = argc > 2 ? argv[2] : "/";
    e = filch_main(run, NULL);
    if (e < 0)
        server_fail("crawl", "no runtime", e);
    return sum.fetched == 0;
}
