/* The body gets each element of a range exactly once, in chunks of at most the grain. */
#include "unit/task/helpers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_MAX 5000

typedef struct seen {
    atomic_uchar times[N_MAX];
    size_t lo, grain;
    atomic_int wrong, calls;
} seen;

static seen all;

static void see(size_t lo, size_t hi, void *ctx)
{
    seen *s = ctx;

    atomic_fetch_add(&s->calls, 1);
    if (hi <= lo || (s->grain > 0 && hi - lo > s->grain))
        atomic_fetch_add(&s->wrong, 1);
    for (size_t i = lo; i < hi; i++)
        atomic_fetch_add(&s->times[i - s->lo], 1);
}

static void forget(seen *s, size_t lo, size_t grain)
{
    memset(s, 0, sizeof *s);
    s->lo = lo;
    s->grain = grain;
}

static bool saw_each_once(seen *s, size_t n)
{
    for (size_t i = 0; i < N_MAX; i++)
        if (s->times[i] != (i < n))
            return false;
    return s->wrong == 0;
}

static void check_range(size_t lo, size_t n, size_t grain)
{
    forget(&all, lo, grain);
    filch_for(lo, lo + n, grain, see, &all);
    CHECK(saw_each_once(&all, n));
}

static void ranges(void)
{
    static const size_t lengths[] = {0, 1, 2, 3, 7, 64, 1000, 1023, 1024, 1025, N_MAX};
    static const size_t grains[] = {0, 1, 2, 3, 100, N_MAX, (size_t)-1};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t j = 0; j < sizeof grains / sizeof *grains; j++) {
            check_range(0, lengths[i], grains[j]);
            check_range((size_t)-1 - lengths[i], lengths[i], grains[j]);
        }
}

static void empty_ranges(void)
{
    forget(&all, 0, 0);
    filch_for(5, 5, 0, see, &all);
    filch_for(6, 5, 0, see, &all);
    filch_for((size_t)-1, 0, 1, see, &all);
    CHECK_INT(all.calls, 0);
}

/* ---- nested, and from tasks ---- */

typedef struct row {
    size_t number;
} row;

static void count_cells(size_t lo, size_t hi, void *ctx)
{
    row *r = ctx;

    for (size_t i = lo; i < hi; i++)
        atomic_fetch_add(&all.times[r->number * 50 + i], 1);
}

static void count_rows(size_t lo, size_t hi, void *ctx)
{
    (void)ctx;
    for (size_t i = lo; i < hi; i++) {
        row r = {i};
        filch_for(0, 50, 7, count_cells, &r);
    }
}

FILCH_VOID_TASK(in_a_task, size_t, lo, size_t, hi)
{
    if (hi - lo == 1) {
        filch_for(lo * 10, lo * 10 + 10, 3, count_rows, NULL);
        return;
    }
    FILCH_SPAWN(in_a_task, lo, lo + (hi - lo) / 2);
    FILCH_CALL(in_a_task, lo + (hi - lo) / 2, hi);
    FILCH_SYNC(in_a_task);
}

static void nested(void)
{
    forget(&all, 0, 0);
    filch_for(0, 100, 1, count_rows, NULL);
    CHECK(saw_each_once(&all, 5000));
    forget(&all, 0, 0);
    FILCH_RUN(in_a_task, 0, 10);
    CHECK(saw_each_once(&all, 5000));
}

/* ---- ranges longer than memory: only the bounds of chunks are checked ---- */

static atomic_size_t covered, parts, misaligned;

static void cover(size_t lo, size_t hi, void *ctx)
{
    size_t begin = *(const size_t *)ctx;

    atomic_fetch_add(&covered, hi - lo);
    atomic_fetch_add(&parts, 1);
    if ((lo - begin) % 64 != 0)
        atomic_fetch_add(&misaligned, 1);
}

static void check_cover(size_t lo, size_t hi, size_t grain)
{
    atomic_store(&covered, 0);
    atomic_store(&parts, 0);
    atomic_store(&misaligned, 0);
    filch_for(lo, hi, grain, cover, &lo);
    CHECK(atomic_load(&covered) == hi - lo);
}

static void huge(void)
{
    check_cover(1, (size_t)-1, 0);
    check_cover(0, (size_t)-1, 0);
    check_cover(0, (size_t)-1, (size_t)1 << 54);
    check_cover(0, (size_t)-1, (size_t)-2);
    check_cover((size_t)-2, (size_t)-1, 0);
}

#ifdef FILCH_SERIAL
SKIP_IN_SERIAL(aligned_chunks_each, "hungry workers, so the body is called once")
#else
/* Long ranges are split into many chunks, at multiples of a vector's length. */
static void aligned_chunks(void)
{
    static const size_t lengths[] = {65536, 65537, 1000000, 1 << 20, (1 << 20) + 1, (size_t)-1 - 7};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        check_cover(7, 7 + lengths[i], 0);
        CHECK_INT(misaligned, 0);
        CHECK(parts >= 128 && parts <= 1030);
    }
}

static void aligned_chunks_each(void **state)
{
    (void)state;
    workers_each(NULL, aligned_chunks);
}
#endif

/* ---- from several threads at once ---- */

#define THREADS 4

static seen of_thread[THREADS];

static void *loop_in_thread(void *arg)
{
    seen *s = arg;

    for (int i = 0; i < 20; i++) {
        forget(s, 0, 10);
        filch_for(0, N_MAX, 10, see, s);
        if (!saw_each_once(s, N_MAX))
            return s;
    }
    return NULL;
}

static void from_threads(void)
{
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, loop_in_thread, &of_thread[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        CHECK_INT(pthread_join(thread[i], &wrong), 0);
        CHECK(wrong == NULL);
    }
}

/* ---- chunks run in parallel: each of these waits for the other ---- */

#ifdef FILCH_SERIAL
SKIP_IN_SERIAL(chunks_run_in_parallel, "second worker")
#else
static atomic_int arrived;

static void meet(size_t lo, size_t hi, void *ctx)
{
    (void)lo, (void)hi, (void)ctx;
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < 2)
        sched_yield();
}

/* Chunks may not wait for each other in general.  Here the second worker sleeps when the loop
 * starts, so it is hungry. */
static void chunks_run_in_parallel(void **state)
{
    (void)state;
    for (int i = 0; i < SCALED(200); i++) {
        atomic_store(&arrived, 0);
        CHECK_INT(filch_start(&(filch_config){.workers = 2}), 0);
        filch_for(0, 2, 1, meet, NULL);
        CHECK_INT(filch_stop(), 0);
    }
}
#endif

/* ---- tiles ---- */

typedef struct picture {
    size_t rows, columns; /* max of a tile */
    filch_tile all;
} picture;

static void see_tile(const filch_tile *t, void *ctx)
{
    picture *p = ctx;

    if (t->row_hi <= t->row_lo || t->column_hi <= t->column_lo ||
        (p->rows > 0 && t->row_hi - t->row_lo > p->rows) ||
        (p->columns > 0 && t->column_hi - t->column_lo > p->columns))
        atomic_fetch_add(&all.wrong, 1);
    for (size_t y = t->row_lo; y < t->row_hi; y++)
        for (size_t x = t->column_lo; x < t->column_hi; x++)
            atomic_fetch_add(
                &all.times[(y - p->all.row_lo) * (p->all.column_hi - p->all.column_lo) + x -
                           p->all.column_lo],
                1);
}

static void check_tiles(size_t height, size_t width, size_t rows, size_t columns)
{
    picture p = {rows, columns, {10, 10 + height, 20, 20 + width}};

    forget(&all, 0, 0);
    filch_for_tiles(&p.all, rows, columns, see_tile, &p);
    CHECK(saw_each_once(&all, height * width));
}

static void tiles(void)
{
    check_tiles(0, 7, 1, 1);
    check_tiles(7, 0, 0, 0);
    check_tiles(1, 1, 0, 0);
    check_tiles(60, 70, 0, 0);
    check_tiles(60, 70, 16, 16);
    check_tiles(61, 71, 10, 100);
    check_tiles(1, 5000, 3, 9);
    check_tiles(5000, 1, 1, 0);
}

/* More tiles than a size_t can count.  The loop would not end, so it runs in a child process. */
static void enough(const filch_tile *t, void *ctx)
{
    (void)ctx;
    if (t->row_hi - t->row_lo != 1 || t->column_hi - t->column_lo != 1)
        _exit(2);
    if (atomic_fetch_add(&all.calls, 1) == 1000)
        _exit(0);
}

static void endless_tiles(void **state)
{
    filch_tile endless = {0, (size_t)-1, 0, (size_t)-1};
    int status;
    pid_t child;

    (void)state;
    forget(&all, 0, 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        filch_for_tiles(&endless, 1, 1, enough, NULL); /* their number is 1, modulo 2^64 */
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#define EACH(name)                                                                                 \
    static void name##_each(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        workers_each(NULL, name);                                                                  \
    }
EACH(ranges)
EACH(empty_ranges)
EACH(nested)
EACH(huge)
EACH(from_threads)
EACH(tiles)

/* With eager publishing each range is split down to the grain. */
static void ranges_eager(void **state)
{
    (void)state;
    workers_each_with((lab_settings){.publish = "eager"}, NULL, ranges);
}

CHECK_MAIN(ranges_each, empty_ranges_each, nested_each, huge_each, aligned_chunks_each,
           from_threads_each, tiles_each, ranges_eager, chunks_run_in_parallel, endless_tiles)
