/* The sampling thread: its file has exact counts for every kind of deque, lazy and eager, and
 * it does not allocate while it samples. */
#define _GNU_SOURCE
#include "unit/observe/forks.h"

#include "fib.h"
#include "unit/task/helpers.h"

#include "base/compiler.h"

#include <filch/samples.h>

#include <errno.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- allocations of the sampling thread ---- */

static atomic_uint allocated_while_sampling;

static void count_if_sampler(void)
{
    char name[16] = "";

    prctl(PR_GET_NAME, name);
    if (strstr(name, "-sample"))
        atomic_fetch_add(&allocated_while_sampling, 1);
}

/* Allocations of libc are counted too, where they can be intercepted. */
#if defined __GLIBC__ && !FI_UNDER_ASAN && !FI_UNDER_TSAN
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
    count_if_sampler();
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    count_if_sampler();
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    count_if_sampler();
    return __libc_realloc(p, size);
}
#endif

static void *alloc(void *ctx, size_t size, size_t align)
{
    (void)ctx;
    count_if_sampler();
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void dealloc(void *ctx, void *p, size_t size, size_t align)
{
    (void)ctx, (void)size, (void)align;
    free(p);
}

/* ---- the file ---- */

static char file[] = "/tmp/filch-samples-XXXXXX";

typedef struct samples {
    filch_samples_head head;
    char *all;
} samples;

static samples read_file(void)
{
    samples s;
    struct stat st;
    FILE *in = fopen(file, "rb");

    CHECK(in != NULL);
    CHECK_INT(fstat(fileno(in), &st), 0);
    CHECK(fread(&s.head, sizeof s.head, 1, in) == 1);
    CHECK_INT(st.st_size, s.head.head_size + s.head.samples * s.head.sample_size);
    s.all = malloc(s.head.samples * s.head.sample_size);
    CHECK(s.all != NULL);
    CHECK_INT(fseek(in, s.head.head_size, SEEK_SET), 0);
    CHECK_INT(fread(s.all, s.head.sample_size, s.head.samples, in), s.head.samples);
    fclose(in);
    return s;
}

static const char *sample_at(const samples *s, uint64_t i)
{
    return s->all + i * s->head.sample_size;
}

static uint64_t stamp_of(const samples *s, uint64_t i)
{
    uint64_t stamp;

    memcpy(&stamp, sample_at(s, i), sizeof stamp);
    return stamp;
}

static uint32_t value(const samples *s, uint64_t i, uint32_t deque, uint32_t column)
{
    uint32_t v;
    size_t at = ((size_t)deque * s->head.columns + column) * sizeof v;

    memcpy(&v, sample_at(s, i) + sizeof(uint64_t) + at, sizeof v);
    return v;
}

static int32_t size_at(const samples *s, uint64_t i, uint32_t deque)
{
    return (int32_t)(value(s, i, deque, FILCH_SAMPLES_BOTTOM_INCS) -
                     value(s, i, deque, FILCH_SAMPLES_BOTTOM_DECS) -
                     value(s, i, deque, FILCH_SAMPLES_TOP));
}

static void check_first_sample(const samples *s)
{
    for (uint32_t d = 0; d < s->head.deques && s->head.dropped == 0; d++)
        for (uint32_t c = 0; c < s->head.columns; c++)
            CHECK_INT(value(s, 0, d, c), 0);
}

/* Loads in order are needed for the lower bound: see observe/sampler.c. */
static void check_monotonic(const samples *s)
{
    for (uint64_t i = 1; i < s->head.samples; i++) {
        CHECK(stamp_of(s, i) >= stamp_of(s, i - 1));
        for (uint32_t d = 0; d < s->head.deques; d++) {
#ifdef __x86_64__
            CHECK(size_at(s, i, d) >= -1);
#endif
            for (uint32_t c = 0; c < s->head.columns; c++)
                CHECK((int32_t)(value(s, i, d, c) - value(s, i - 1, d, c)) >= 0);
        }
    }
}

/* After all threads have ended.  The items left are tickets that were claimed back. */
static void check_last_sample(const samples *s)
{
    uint64_t last = s->head.samples - 1;
    uint32_t puts = 0, takes = 0, stolen = 0, left = 0;

    for (uint32_t d = 0; d < s->head.deques; d++) {
        puts += value(s, last, d, FILCH_SAMPLES_PUSHES);
        takes += value(s, last, d, FILCH_SAMPLES_POPS);
        stolen += value(s, last, d, FILCH_SAMPLES_STOLEN);
        CHECK(size_at(s, last, d) >= 0);
        left += (uint32_t)size_at(s, last, d);
    }
    CHECK(puts > 0 || !s->head.eager);
    CHECK_INT(puts, takes + stolen + left);
}

static void check_file(const char *kind, bool eager, unsigned workers)
{
    samples s = read_file();

    CHECK(memcmp(s.head.magic, FILCH_SAMPLES_MAGIC, sizeof s.head.magic) == 0);
    CHECK_STR(s.head.kind, kind);
    CHECK_INT(s.head.eager, eager);
    CHECK_INT(s.head.deques, workers);
    CHECK(s.head.ticks_per_second > 0);
    CHECK(strstr(s.head.program, "observe_sampler") != NULL);
    CHECK(s.head.samples >= 2);
    check_first_sample(&s);
    check_monotonic(&s);
    check_last_sample(&s);
    free(s.all);
}

/* ---- the tests ---- */

static void *work(void *arg)
{
    CHECK_INT(FILCH_RUN(fib, 18), 2584);
    return arg;
}

static void sampled(const char *kind, const char *publish, unsigned workers)
{
    filch_config c = {.workers = workers};
    filch_fiber *f[16];

    set_lab_settings((lab_settings){.deque = kind, .publish = publish});
    CHECK_INT(filch_start(&c), 0);
    for (int i = 0; i < 16; i++)
        CHECK((f[i] = filch_fiber_start(work, NULL)) != NULL);
    for (int i = 0; i < 16; i++)
        CHECK_INT(filch_fiber_join(f[i], NULL), 0);
    CHECK_INT(filch_stop(), 0);
    check_file(kind, strcmp(publish, "eager") == 0, workers);
}

static void every_deque(const char *publish)
{
    for (size_t i = 0; i < LAB_DEQUES; i++)
        for (unsigned workers = 1; workers <= 8; workers *= 2)
            sampled(lab_deques[i], publish, workers);
}

static void lazy(void **state)
{
    (void)state;
    every_deque("lazy");
}

static void eager(void **state)
{
    (void)state;
    every_deque("eager");
}

static void with_long_intervals(void **state)
{
    (void)state;
    setenv("FILCH_SAMPLE_NS", "20000", 1);
    sampled("batch", "eager", 2);
    setenv("FILCH_SAMPLE_NS", "200000", 1);
    sampled("batch", "eager", 2);
    unsetenv("FILCH_SAMPLE_NS");
}

/* The child has no sampling thread, whether it starts a runtime or not.  The parent's continues. */
static void a_fork(bool starts_runtime)
{
    int status;
    pid_t child;

    set_lab_settings((lab_settings){.publish = "eager"});
    CHECK_INT(filch_start(&(filch_config){.workers = 2}), 0);
    CHECK_INT(FILCH_RUN(fib, 15), 610);
    fflush(NULL);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(600);
        exit(!starts_runtime || (FILCH_RUN(fib, 10) == 55 && filch_stop() == 0) ? 0 : 1);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    CHECK_INT(FILCH_RUN(fib, 15), 610);
    CHECK_INT(filch_stop(), 0);
    check_file("batch", true, 2);
}

static void forks(void **state)
{
    (void)state;
    if (!children_can_have_threads())
        return;
    a_fork(false);
    a_fork(true);
}

static void nothing_is_allocated(void **state)
{
    filch_allocator counting = {.alloc = alloc, .free = dealloc};

    (void)state;
    CHECK_INT(filch_set_allocator(&counting), 0);
    atomic_store(&allocated_while_sampling, 0);
    sampled("batch", "eager", 4);
    CHECK_INT(atomic_load(&allocated_while_sampling), 0);
    CHECK_INT(filch_set_allocator(NULL), 0);
}

static void invalid_settings(void **state)
{
    (void)state;
    setenv("FILCH_STRICT", "1", 1);
    setenv("FILCH_SAMPLE_CPU", "100000", 1);
    CHECK_INT(filch_start(NULL), -EINVAL);
    setenv("FILCH_SAMPLE_CPU", "first", 1);
    CHECK_INT(filch_start(NULL), -EINVAL);
    unsetenv("FILCH_STRICT");
    setenv("FILCH_SAMPLE_CPU", "100000", 1);
    CHECK_INT(filch_start(NULL), 0);
    CHECK_INT(filch_stop(), 0);
    unsetenv("FILCH_SAMPLE_CPU");
    setenv("FILCH_SAMPLE", "/no/such/place", 1);
    CHECK_INT(filch_start(NULL), 0);
    CHECK_INT(filch_stop(), 0);
    setenv("FILCH_SAMPLE", file, 1);
}

static void make_file(void **state)
{
    int fd = mkstemp(file);

    (void)state;
    CHECK(fd >= 0);
    close(fd);
    setenv("FILCH_SAMPLE", file, 1);
}

static void remove_file(void **state)
{
    (void)state;
    CHECK_INT(unlink(file), 0);
}

CHECK_MAIN(make_file, lazy, eager, with_long_intervals, forks, nothing_is_allocated,
           invalid_settings, remove_file)
