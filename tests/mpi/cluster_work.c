/* cluster_work FILE CASE...: runs with real ranks, each item exactly once.  FILE is shared by the
 * ranks.  The environment sets the number of workers, the size of loots and so on. */
#include "cluster_helpers.h"

#include <filch/chan.h>
#include <filch/fiber.h>
#include <filch/io.h>
#include <filch/runtime.h>
#include <filch/sync.h>
#include <filch/time.h>
#include <inttypes.h>
#include <sys/socket.h>
#include <time.h>

/* What was processed. */
typedef struct sums {
    uint64_t count, sum, hash;
} sums;

typedef struct shared_words {
    atomic_uint short_items; /* processed, on all ranks */
    atomic_uint in_flight;   /* begun, on all ranks */
} shared_words;

static shared_words *shared;
static uint64_t seed;

static void sums_add(sums *s, uint64_t value)
{
    s->count++;
    s->sum += value;
    s->hash += mix(value);
}

static void sums_combine(void *acc, const void *other, void *ctx)
{
    sums *to = acc;
    const sums *from = other;

    (void)ctx;
    to->count += from->count;
    to->sum += from->sum;
    to->hash += from->hash;
}

static void sums_check(const sums *s, const sums *expected)
{
    CHECK_INT(s->count, expected->count);
    CHECK_INT(s->sum, expected->sum);
    CHECK_INT(s->hash, expected->hash);
}

static sums sums_of_range(uint64_t lo, uint64_t hi)
{
    sums s = {0};

    for (uint64_t i = lo; i < hi; i++)
        sums_add(&s, i);
    return s;
}

/* ---- ranges ---- */

typedef struct range_case {
    uint64_t lo, hi, grain;
} range_case;

static const range_case range_cases[] = {
    {0, 100000, 0},                     /* Filch chooses the grain */
    {17, 20017, 1},                     /* single numbers */
    {0, 100000, 1000},                  /* whole chunks */
    {UINT64_MAX - 5000, UINT64_MAX, 7}, /* no overflow */
    {0, 1, 0},
    {0, 3, 1}, /* ranks that begin with nothing */
    {5, 5, 0},
    {9, 3, 0}, /* empty */
    {0, 1000, 1000000},
    {0, 10, UINT64_MAX}, /* one chunk */
};

enum { RANGE_CASES = sizeof range_cases / sizeof range_cases[0] };

static int range_map(uint64_t lo, uint64_t hi, void *acc, void *ctx)
{
    const range_case *of = ctx;

    CHECK(lo < hi && lo >= of->lo && hi <= of->hi);
    CHECK(of->grain == 0 || hi - lo <= of->grain);
    for (uint64_t i = lo; i < hi; i++)
        sums_add(acc, i);
    return 0;
}

static void case_reduce(void)
{
    for (int i = 0; i < RANGE_CASES; i++) {
        range_case c = range_cases[i];
        sums s = {0}, expected = sums_of_range(c.lo, c.hi);

        CHECK_INT(
            filch_cluster_reduce(c.lo, c.hi, c.grain, &s, sizeof s, range_map, sums_combine, &c),
            0);
        sums_check(&s, &expected);
    }
}

static atomic_ullong for_count, for_sum, for_hash;

static int for_body(uint64_t lo, uint64_t hi, void *ctx)
{
    sums s = {0};

    range_map(lo, hi, &s, ctx);
    atomic_fetch_add(&for_count, s.count);
    atomic_fetch_add(&for_sum, s.sum);
    atomic_fetch_add(&for_hash, s.hash);
    return 0;
}

static int sums_handle(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    (void)pool;
    CHECK_INT(size, sizeof(sums));
    sums_combine(acc, item, ctx);
    return 0;
}

/* Add up what all ranks have. */
static sums sums_of_ranks(sums mine)
{
    static const filch_pool_type type = {.item_size = sizeof(sums),
                                         .handle = sums_handle,
                                         .acc_size = sizeof(sums),
                                         .combine = sums_combine};
    sums all = {0};

    CHECK_INT(filch_cluster_pool(&type, &mine, 1, &all, NULL), 0);
    return all;
}

static void case_for(void)
{
    for (int i = 0; i < RANGE_CASES; i++) {
        range_case c = range_cases[i];
        sums all, expected = sums_of_range(c.lo, c.hi);

        CHECK_INT(filch_cluster_for(c.lo, c.hi, c.grain, for_body, &c), 0);
        all = sums_of_ranks((sums){atomic_exchange(&for_count, 0), atomic_exchange(&for_sum, 0),
                                   atomic_exchange(&for_hash, 0)});
        sums_check(&all, &expected);
    }
}

/* ---- a large accumulator ---- */

enum { WORDS = FILCH_CLUSTER_ACC_MAX / sizeof(uint64_t), NUMBERS = 300000 };

static int words_map(uint64_t lo, uint64_t hi, void *acc, void *ctx)
{
    uint64_t *words = acc;

    (void)ctx;
    for (uint64_t i = lo; i < hi; i++)
        words[i % WORDS] += mix(i);
    return 0;
}

static void words_combine(void *acc, const void *other, void *ctx)
{
    uint64_t *to = acc;
    const uint64_t *from = other;

    (void)ctx;
    for (size_t i = 0; i < WORDS; i++)
        to[i] += from[i];
}

static void case_large(void)
{
    uint64_t *words = calloc(WORDS, sizeof *words), *expected = calloc(WORDS, sizeof *words);

    CHECK(words && expected);
    CHECK_INT(filch_cluster_reduce(0, NUMBERS, 0, words, FILCH_CLUSTER_ACC_MAX, words_map,
                                   words_combine, NULL),
              0);
    words_map(0, NUMBERS, expected, NULL);
    CHECK(memcmp(words, expected, FILCH_CLUSTER_ACC_MAX) == 0);
    CHECK_INT(filch_cluster_reduce(0, 10, 0, words, FILCH_CLUSTER_ACC_MAX + 1, words_map,
                                   words_combine, NULL),
              -EINVAL);
    free(words);
    free(expected);
}

/* ---- items of one size: a binary tree ---- */

enum { DEPTH = 13 };

/* 12 bytes, so that records are padded. */
typedef struct tree_item {
    uint32_t depth, id, copy;
} tree_item;

static int tree_handle(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    tree_item now = *(const tree_item *)item;
    int e = 0;

    (void)ctx;
    CHECK_INT(size, sizeof now);
    CHECK_INT((uintptr_t)item % 16, 0);
    CHECK_INT(now.copy, ~now.id);
    sums_add(acc, now.id);
    for (uint32_t c = 0; c < 2 && now.depth < DEPTH && e == 0; c++) {
        tree_item child = {now.depth + 1, 2 * now.id + c, ~(2 * now.id + c)};
        e = filch_pool_push(pool, &child, sizeof child);
    }
    CHECK(memcmp(item, &now, sizeof now) == 0); /* valid during the call */
    return e;
}

/* The last rank has the root, and all others begin with nothing. */
static void case_tree(void)
{
    static const filch_pool_type type = {.item_size = sizeof(tree_item),
                                         .handle = tree_handle,
                                         .acc_size = sizeof(sums),
                                         .combine = sums_combine};
    const tree_item root = {1, 1, ~UINT32_C(1)};
    sums s = {0}, expected = sums_of_range(1, 1 << DEPTH), none = {0};
    bool has_root = filch_cluster_rank() + 1 == filch_cluster_ranks();

    CHECK_INT(filch_cluster_pool(&type, &root, has_root, &s, NULL), 0);
    sums_check(&s, &expected);
    s = (sums){0};
    CHECK_INT(filch_cluster_pool(&type, NULL, 0, &s, NULL), 0); /* no item at all */
    sums_check(&s, &none);
}

/* ---- items of different sizes ---- */

enum { TEXTS = 200 };

static void text_write(unsigned char *to, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (unsigned char)(size * 31 + i);
}

static size_t text_size(unsigned i)
{
    static const size_t special[] = {0, 1, 7, 8, 9, 65535, FILCH_CLUSTER_ITEM_MAX};
    enum { SPECIAL = sizeof special / sizeof special[0] };

    return i < SPECIAL ? special[i] : mix(seed + i) % (FILCH_CLUSTER_ITEM_MAX + 1);
}

/* A text also has a text of half its size. */
static void text_expect(sums *s, size_t size)
{
    sums_add(s, size);
    if (size >= 2)
        text_expect(s, size / 2);
}

static bool text_is_right(const unsigned char *text, size_t size)
{
    bool is_right = true;

    for (size_t i = 0; i < size; i++)
        is_right &= text[i] == (unsigned char)(size * 31 + i);
    return is_right;
}

static int text_handle(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    unsigned char *half;
    int e = 0;

    (void)ctx;
    CHECK(text_is_right(item, size));
    sums_add(acc, size);
    if (size >= 2) {
        half = malloc(size / 2);
        CHECK(half != NULL);
        text_write(half, size / 2);
        e = filch_pool_push(pool, half, size / 2);
        free(half);
    }
    return e;
}

static void texts_make(filch_item *items, unsigned n, size_t (*size_of)(unsigned i))
{
    for (unsigned i = 0; i < n; i++) {
        unsigned char *text = malloc(size_of(i) + 1);

        CHECK(text != NULL);
        text_write(text, size_of(i));
        items[i] = (filch_item){text, size_of(i)};
    }
}

static void texts_free(filch_item *items, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        free((void *)items[i].data);
}

/* n: texts of this rank. */
static void texts_run(unsigned n, size_t (*size_of)(unsigned i), const sums *expected)
{
    static const filch_pool_type type = {
        .handle = text_handle, .acc_size = sizeof(sums), .combine = sums_combine};
    filch_item items[TEXTS] = {0};
    sums s = {0};

    texts_make(items, n, size_of);
    CHECK_INT(filch_cluster_pool(&type, items, n, &s, NULL), 0);
    sums_check(&s, expected);
    texts_free(items, n);
}

static void case_texts(void)
{
    sums expected = {0};

    for (unsigned i = 0; i < TEXTS; i++)
        text_expect(&expected, text_size(i));
    texts_run(filch_cluster_rank() == 0 ? TEXTS : 0, text_size, &expected);
}

static size_t largest_size(unsigned i)
{
    (void)i;
    return FILCH_CLUSTER_ITEM_MAX;
}

/* All ranks begin with large items.  With more items in flight than lanes at first, all ask each
 * other at once, so loots go in all directions. */
static void case_crossing(void)
{
    sums expected = {0};

    for (unsigned i = 0; i < TEXTS * filch_cluster_ranks(); i++)
        text_expect(&expected, FILCH_CLUSTER_ITEM_MAX);
    texts_run(TEXTS, largest_size, &expected);
}

/* ---- bags ---- */

typedef struct interval {
    uint64_t lo, hi;
} interval;

/* A list of intervals of numbers. */
typedef struct list {
    size_t n;
    interval of[64];
} list;

static void *list_make(void *ctx)
{
    (void)ctx;
    return calloc(1, sizeof(list));
}

static void list_drop(void *bag, void *ctx)
{
    (void)ctx;
    free(bag);
}

static int list_process(void *bag, size_t n, void *acc, void *ctx)
{
    list *l = bag;

    (void)ctx;
    for (; n > 0 && l->n > 0; n--) {
        interval *last = &l->of[l->n - 1];

        sums_add(acc, last->lo++);
        l->n -= last->lo == last->hi;
    }
    return l->n > 0;
}

/* The upper half of the last interval, or the first intervals. */
static void *list_split(void *bag, void *ctx)
{
    list *l = bag, *part;
    interval *last = &l->of[l->n - 1];

    if (l->n == 0 || (l->n == 1 && last->hi - last->lo < 2))
        return NULL;
    part = list_make(ctx);
    CHECK(part != NULL);
    if (l->n == 1) {
        uint64_t middle = last->lo + (last->hi - last->lo) / 2;
        part->of[part->n++] = (interval){middle, last->hi};
        last->hi = middle;
    } else {
        part->n = l->n / 2;
        memcpy(part->of, l->of, part->n * sizeof part->of[0]);
        l->n -= part->n;
        memmove(l->of, l->of + part->n, l->n * sizeof l->of[0]);
    }
    return part;
}

static void list_merge(void *bag, void *other, void *ctx)
{
    list *to = bag, *from = other;

    memcpy(to->of + to->n, from->of, from->n * sizeof from->of[0]);
    to->n += from->n;
    list_drop(other, ctx);
}

static size_t list_pack(const void *bag, void *to, size_t capacity, void *ctx)
{
    const list *l = bag;
    size_t size = l->n * sizeof l->of[0];

    (void)ctx;
    if (size <= capacity && size > 0)
        memcpy(to, l->of, size);
    return size;
}

static int list_unpack(void *bag, const void *from, size_t size, void *ctx)
{
    list *l = bag;

    (void)ctx;
    CHECK(size % sizeof l->of[0] == 0 && l->n * sizeof l->of[0] + size <= sizeof l->of);
    memcpy(l->of + l->n, from, size);
    l->n += size / sizeof l->of[0];
    return 0;
}

static void case_bags(void)
{
    static const filch_bag_type type = {.make = list_make,
                                        .drop = list_drop,
                                        .process = list_process,
                                        .split = list_split,
                                        .merge = list_merge,
                                        .pack = list_pack,
                                        .unpack = list_unpack,
                                        .acc_size = sizeof(sums),
                                        .combine = sums_combine};
    sums s = {0}, expected = sums_of_range(0, UINT64_C(64) * 3000);
    list *all = NULL;

    if (filch_cluster_rank() == 0) {
        all = list_make(NULL);
        CHECK(all != NULL);
        for (all->n = 0; all->n < 64; all->n++)
            all->of[all->n] = (interval){all->n * 3000, all->n * 3000 + 3000};
    }
    CHECK_INT(filch_cluster_run(&type, all, &s, NULL), 0);
    sums_check(&s, &expected);
    s = (sums){0};
    CHECK_INT(filch_cluster_run(&type, NULL, &s, NULL), 0); /* no rank has work */
    CHECK_INT(s.count, 0);
}

/* ---- a long item with short ones behind it ---- */

enum { SHORTS = 1000, LONG = 1 };

/* The long item keeps its worker until other ranks have processed all short ones. */
static int long_handle(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    (void)pool;
    (void)size;
    (void)ctx;
    if (*(const int *)item == LONG) {
        while (atomic_load(&shared->short_items) < SHORTS)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    } else {
        sums_add(acc, filch_cluster_rank());
        atomic_fetch_add(&shared->short_items, 1);
    }
    return 0;
}

static void case_long(void)
{
    static const filch_pool_type type = {.item_size = sizeof(int),
                                         .handle = long_handle,
                                         .acc_size = sizeof(sums),
                                         .combine = sums_combine};
    static int items[SHORTS + 1];
    sums s = {0};

    items[SHORTS] = LONG; /* the newest item is processed first */
    CHECK_INT(
        filch_cluster_pool(&type, items, filch_cluster_rank() == 0 ? SHORTS + 1 : 0, &s, NULL), 0);
    CHECK_INT(s.count, SHORTS);
    if (filch_worker_count() == 1 && filch_cluster_ranks() == 2)
        CHECK_INT(s.sum, SHORTS); /* all on rank 1 */
    if (filch_worker_count() == 1)
        CHECK(s.sum >= SHORTS); /* none on rank 0 */
}

/* ---- items that wait ---- */

enum { TOGETHER = 64 };

/* How many items all ranks process at once: half of what the settings allow, so that no rank needs
 * all of its lanes. */
static unsigned at_once(void)
{
    const char *text = getenv("FILCH_CLUSTER_IN_FLIGHT");

    return text ? TOGETHER / 2 : filch_cluster_ranks() * filch_worker_count();
}

/* An item waits until several are in flight. */
static int together_handle(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    (void)pool;
    (void)size;
    (void)ctx;
    atomic_fetch_add(&shared->in_flight, 1);
    while (atomic_load(&shared->in_flight) < at_once())
        CHECK_INT(filch_sleep(1000000), 0);
    sums_add(acc, *(const uint64_t *)item);
    return 0;
}

static void case_together(void)
{
    static const filch_pool_type type = {.item_size = sizeof(uint64_t),
                                         .handle = together_handle,
                                         .acc_size = sizeof(sums),
                                         .combine = sums_combine};
    uint64_t items[TOGETHER];
    sums s = {0}, expected = sums_of_range(0, TOGETHER);

    for (uint64_t i = 0; i < TOGETHER; i++)
        items[i] = i;
    CHECK_INT(filch_cluster_pool(&type, items, filch_cluster_rank() == 0 ? TOGETHER : 0, &s, NULL),
              0);
    sums_check(&s, &expected);
}

/* What the items of this rank wait for. */
static struct waits {
    filch_mutex lock, socket_lock;
    uint64_t counted; /* protected by lock */
    filch_chan *requests, *replies;
    int sockets[2];
} waits;

/* Answers on the channel until it is closed. */
static void *channel_server(void *arg)
{
    uint64_t value;

    while (filch_chan_recv(waits.requests, &value) == 0)
        CHECK_INT(filch_chan_send(waits.replies, &value), 0);
    return arg;
}

/* Answers on the socket until its other end is closed. */
static void *socket_server(void *arg)
{
    uint64_t value;

    while (filch_read_all(waits.sockets[1], &value, sizeof value) == sizeof value)
        CHECK_INT(filch_write_all(waits.sockets[1], &value, sizeof value), sizeof value);
    return arg;
}

static uint64_t channel_call(uint64_t value)
{
    CHECK_INT(filch_chan_send(waits.requests, &value), 0);
    CHECK_INT(filch_chan_recv(waits.replies, &value), 0);
    return value; /* maybe of another item */
}

static void socket_call(uint64_t value)
{
    uint64_t reply = 0;

    filch_mutex_lock(&waits.socket_lock);
    CHECK_INT(filch_write_all(waits.sockets[0], &value, sizeof value), sizeof value);
    CHECK_INT(filch_read_all(waits.sockets[0], &reply, sizeof reply), sizeof reply);
    filch_mutex_unlock(&waits.socket_lock);
    CHECK_INT(reply, value);
}

static int waiting_handle(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    uint64_t value = *(const uint64_t *)item;

    (void)pool;
    (void)size;
    (void)ctx;
    CHECK_INT(filch_sleep(1000000), 0);
    filch_mutex_lock(&waits.lock);
    waits.counted++;
    if (value % 32 == 0)
        CHECK_INT(filch_sleep(100000), 0);
    filch_mutex_unlock(&waits.lock);
    socket_call(value);
    sums_add(acc, channel_call(value));
    return 0;
}

static void waits_start(filch_fiber *servers[2])
{
    waits = (struct waits){.requests = filch_chan_new(sizeof(uint64_t), 0),
                           .replies = filch_chan_new(sizeof(uint64_t), 0)};
    CHECK(waits.requests && waits.replies);
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, waits.sockets), 0);
    servers[0] = filch_fiber_start(channel_server, NULL);
    servers[1] = filch_fiber_start(socket_server, NULL);
    CHECK(servers[0] && servers[1]);
}

static void waits_stop(filch_fiber *servers[2])
{
    filch_chan_close(waits.requests);
    filch_close(waits.sockets[0]);
    CHECK_INT(filch_fiber_join(servers[0], NULL), 0);
    CHECK_INT(filch_fiber_join(servers[1], NULL), 0);
    filch_close(waits.sockets[1]);
    filch_chan_free(waits.requests);
    filch_chan_free(waits.replies);
}

static void case_waiting(void)
{
    enum { WAITING = 640 };
    static const filch_pool_type type = {.item_size = sizeof(uint64_t),
                                         .handle = waiting_handle,
                                         .acc_size = sizeof(sums),
                                         .combine = sums_combine};
    static uint64_t items[WAITING];
    sums s = {0}, counts, expected = sums_of_range(0, WAITING);
    filch_fiber *servers[2];

    for (uint64_t i = 0; i < WAITING; i++)
        items[i] = i;
    waits_start(servers);
    CHECK_INT(filch_cluster_pool(&type, items, filch_cluster_rank() == 0 ? WAITING : 0, &s, NULL),
              0);
    waits_stop(servers);
    sums_check(&s, &expected);
    counts = sums_of_ranks((sums){.count = waits.counted});
    CHECK_INT(counts.count, WAITING);
}

/* ---- runs in a row ---- */

enum { RUNS = 1000, WARM = 100, GROWTH_PAGES = 1024 };

static long resident_pages(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    long size = 0, resident = 0;

    CHECK(f && fscanf(f, "%ld %ld", &size, &resident) == 2);
    fclose(f);
    return resident;
}

static void repeat_run(int i)
{
    range_case c = {(uint64_t)i, (uint64_t)i + 200, i % 3 == 0};
    sums s = {0}, expected = sums_of_range(c.lo, c.hi);

    if (i % 4 == 3) {
        s = sums_of_ranks(expected);
        CHECK_INT(s.hash, filch_cluster_ranks() * expected.hash);
        return;
    }
    CHECK_INT(filch_cluster_reduce(c.lo, c.hi, c.grain, &s, sizeof s, range_map, sums_combine, &c),
              0);
    sums_check(&s, &expected);
}

/* The bound is generous: 1,000 lost messages of 4 kB would exceed it. */
static void case_repeat(void)
{
    long before = 0, after;

    for (int i = 0; i < RUNS; i++) {
        if (i == WARM)
            before = resident_pages();
        repeat_run(i);
    }
    after = resident_pages();
    if (after - before > GROWTH_PAGES)
        fprintf(stderr, "rank %u: %ld pages, then %ld\n", filch_cluster_rank(), before, after);
    CHECK(after - before <= GROWTH_PAGES);
}

/* ---- the program ---- */

static void *all_in_fiber(void *arg)
{
    (void)arg;
    for (int i = 0; i < 20; i++)
        repeat_run(i);
    case_tree();
    case_bags();
    return NULL;
}

/* Runs from a fiber.  It holds no worker while it waits. */
static void case_fiber(void)
{
    filch_fiber *f = filch_fiber_start(all_in_fiber, NULL);

    CHECK(f != NULL);
    CHECK_INT(filch_fiber_join(f, NULL), 0);
}

typedef struct named_case {
    const char *name;
    void (*run)(void);
} named_case;

static const named_case cases[] = {
    {"reduce", case_reduce},   {"for", case_for},       {"large", case_large},
    {"tree", case_tree},       {"texts", case_texts},   {"crossing", case_crossing},
    {"bags", case_bags},       {"long", case_long},     {"together", case_together},
    {"waiting", case_waiting}, {"repeat", case_repeat}, {"fiber", case_fiber},
};

static void case_run(const char *name)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(cases[i].name, name) == 0) {
            cases[i].run();
            return;
        }
    fprintf(stderr, "cluster_work: unknown case '%s'\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    const char *text = getenv("FILCH_SEED");

    if (argc < 2)
        return 2;
    shared = share_words(argv[1], sizeof *shared);
    seed = text ? strtoull(text, NULL, 0) : 1;
    CHECK_INT(filch_cluster_start(NULL), 0);
    for (int i = 2; i < argc; i++)
        case_run(argv[i]);
    if (filch_cluster_rank() == 0)
        printf("%d cases passed\n", argc - 2);
    CHECK_INT(filch_cluster_stop(), 0);
    CHECK_INT(filch_cluster_ranks(), 1);
    return 0;
}
