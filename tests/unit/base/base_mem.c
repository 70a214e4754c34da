/* Memory is zeroed, aligned and counted, the allocator is replaceable, and misuse aborts. */
#include "base/atomic.h"
#include "base/mem.h"
#include "check.h"
#include "child.h"

#include <errno.h>
#include <filch/memory.h>
#include <pthread.h>
#include <sched.h>

static bool is_zero(const unsigned char *p, size_t n)
{
    return p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

static void alloc_and_dirty(size_t size, size_t align)
{
    unsigned char *p = fi_mem_alloc(size, align);

    CHECK(p != NULL);
    CHECK((uintptr_t)p % align == 0);
    CHECK(is_zero(p, size));
    memset(p, 0xff, size);
    fi_mem_free(p, size, align);
}

/* Twice each, so that the second round reuses the dirty memory of the first. */
static void test_zeroed_and_aligned(void **state)
{
    static const size_t sizes[] = {1, 7, 64, 100, 4096, 65535, 65536, 65537, 1000000, 5000000};

    (void)state;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            for (size_t align = 1; align <= 65536; align *= 2)
                alloc_and_dirty(sizes[i], align);
    CHECK_INT(fi_mem_live().blocks, 0);
}

static void test_counts(void **state)
{
    (void)state;
    char *p = fi_mem_alloc(100, 8);
    char *q = fi_mem_alloc(200000, 64);
    CHECK_INT(fi_mem_live().blocks, 2);
    CHECK_INT(fi_mem_live().bytes, 200100);
    fi_mem_free(p, 100, 8);
    CHECK_INT(fi_mem_live().blocks, 1);
    CHECK_INT(fi_mem_live().bytes, 200000);
    fi_mem_free(q, 200000, 64);
    fi_mem_free(NULL, 5, 64);
    CHECK_INT(fi_mem_live().blocks, 0);
    CHECK_INT(fi_mem_live().bytes, 0);
}

/* By default sanitizers abort the program when an allocation is far too large. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* volatile, so that the compiler does not warn about the size. */
static volatile size_t huge = SIZE_MAX;

static void test_too_much_is_refused(void **state)
{
    (void)state;
    CHECK(fi_mem_alloc(huge, 1) == NULL);
    CHECK(fi_mem_alloc(huge, 64) == NULL);
    CHECK(fi_mem_alloc(huge / 2, 64) == NULL); /* PTRDIFF_MAX */
    CHECK(fi_mem_alloc(huge / 2, huge / 2 + 1) == NULL);
    CHECK(fi_mem_alloc(huge / 2 - 100, 64) == NULL);
    CHECK_INT(fi_mem_live().blocks, 0);
    CHECK_INT(fi_mem_live().bytes, 0);
}

typedef struct item {
    char bytes[24];
} item;

/* A product that wraps to a small number must not give an array that is too short. */
static void test_array_overflow_is_refused(void **state)
{
    (void)state;
    CHECK(FI_NEW_ARRAY(item, huge / sizeof(item) + 2) == NULL);
    CHECK(FI_NEW_ARRAY(uint64_t, huge / 8 + 2) == NULL);
    CHECK(FI_NEW_ARRAY(uint64_t, huge) == NULL);
    item *a = FI_NEW_ARRAY(item, 10);
    CHECK(a != NULL);
    CHECK((uintptr_t)a % FI_CACHE_LINE == 0);
    CHECK_INT(fi_mem_live().bytes, 240);
    FI_DELETE_ARRAY(item, a, 10);
    item *one = FI_NEW(item);
    CHECK(is_zero((unsigned char *)one, sizeof *one));
    FI_DELETE(item, one);
    CHECK_INT(fi_mem_live().blocks, 0);
}

/* A user's allocator: one block, filled with junk, and a record of its calls. */
typedef struct test_allocator {
    _Alignas(256) unsigned char room[1024];
    size_t offset;
    bool full;
    int allocs, frees;
    size_t size, align;
} test_allocator;

static void *test_allocator_alloc(void *ctx, size_t size, size_t align)
{
    test_allocator *n = ctx;

    n->allocs++;
    n->size = size;
    n->align = align;
    memset(n->room, 0xee, sizeof n->room);
    return n->full ? NULL : n->room + n->offset;
}

static void test_allocator_free(void *ctx, void *p, size_t size, size_t align)
{
    test_allocator *n = ctx;

    n->frees += p == n->room && size == n->size && align == n->align;
}

static void test_custom_allocator(void **state)
{
    test_allocator n = {.allocs = 0};
    filch_allocator a = {test_allocator_alloc, test_allocator_free, &n};

    (void)state;
    CHECK_INT(filch_set_allocator(&a), 0);
    memset(&a, 0, sizeof a); /* it was copied */
    unsigned char *p = fi_mem_alloc(1000, 128);
    CHECK(p == n.room);
    CHECK(is_zero(p, 1000));
    CHECK_INT(p[1000], 0xee);
    CHECK_INT(n.size, 1000);
    CHECK_INT(n.align, 128);
    fi_mem_free(p, 1000, 128);
    CHECK_INT(n.frees, 1);
    fi_mem_free(NULL, 1000, 128);
    CHECK_INT(n.frees, 1);
    n.full = true;
    CHECK(fi_mem_alloc(10, 8) == NULL);
    CHECK_INT(fi_mem_live().blocks, 0);
    CHECK_INT(filch_set_allocator(NULL), 0);
    fi_mem_free(fi_mem_alloc(10, 8), 10, 8);
    CHECK_INT(n.allocs, 2);
}

static void test_set_allocator_errors(void **state)
{
    test_allocator n = {.allocs = 0};
    filch_allocator good = {test_allocator_alloc, test_allocator_free, &n};
    filch_allocator no_alloc = {NULL, test_allocator_free, &n};
    filch_allocator no_free = {test_allocator_alloc, NULL, &n};

    (void)state;
    CHECK_INT(filch_set_allocator(&no_alloc), -EINVAL);
    CHECK_INT(filch_set_allocator(&no_free), -EINVAL);
    void *p = fi_mem_alloc(10, 8);
    CHECK_INT(filch_set_allocator(&good), -EBUSY);
    CHECK_INT(filch_set_allocator(NULL), -EBUSY);
    CHECK_INT(filch_set_allocator(&no_free), -EINVAL);
    fi_mem_free(p, 10, 8);
    CHECK_INT(n.allocs, 0);
    CHECK_INT(filch_set_allocator(&good), 0);
    CHECK_INT(filch_set_allocator(NULL), 0);
}

static void alloc_nothing(void)
{
    fi_mem_alloc(0, 8);
}

static void alloc_bad_alignment(void)
{
    fi_mem_alloc(8, 24);
}

static void alloc_align_0(void)
{
    fi_mem_alloc(8, 0);
}

static void free_too_often(void)
{
    fi_mem_free(malloc(8), 8, 8);
}

static void get_misaligned(void)
{
    static test_allocator n = {.offset = 8};
    filch_allocator a = {test_allocator_alloc, test_allocator_free, &n};

    filch_set_allocator(&a);
    fi_mem_alloc(8, 16);
}

static void test_misuse_aborts(void **state)
{
    (void)state;
    CHECK(aborts_with(alloc_nothing, "size is 0"));
    CHECK(aborts_with(alloc_bad_alignment, "not a power of two"));
    CHECK(aborts_with(alloc_align_0, "not a power of two"));
    CHECK(aborts_with(free_too_often, "more blocks freed"));
    CHECK(aborts_with(get_misaligned, "misaligned"));
}

/* Two allocators mark their blocks.  While threads allocate and free, another thread keeps
 * replacing one allocator by the other.  The mark shows a block that the wrong allocator frees.
 * Each thread has a static buffer for one block, so that most time is spent in the code under
 * test. */
#define THREADS 3
#define ROUNDS  100000

static _Atomic(int) strangers;
static _Atomic(int) running;
static _Thread_local void *mark;
static _Thread_local _Alignas(16) char room[32];

static void *marked_alloc(void *ctx, size_t size, size_t align)
{
    (void)align;
    mark = ctx;
    return size == sizeof room ? room : NULL;
}

static void marked_free(void *ctx, void *p, size_t size, size_t align)
{
    (void)size, (void)align;
    if (mark != ctx || p != room)
        strangers++;
}

static void *allocate_often(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        void *p = fi_mem_alloc(32, 16);
        fi_mem_free(p, 32, 16);
    }
    running--;
    return arg;
}

static void test_replaced_while_in_use(void **state)
{
    static int red, blue;
    filch_allocator a[2] = {{marked_alloc, marked_free, &red}, {marked_alloc, marked_free, &blue}};
    pthread_t thread[THREADS];
    int replaced = 0;

    (void)state;
    CHECK_INT(filch_set_allocator(&a[0]), 0);
    running = THREADS;
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, allocate_often, NULL), 0);
    for (int i = 1; running > 0; i++) {
        int e = filch_set_allocator(&a[i % 2]);
        CHECK(e == 0 || e == -EBUSY);
        replaced += e == 0;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    printf("replaced %d times\n", replaced);
    CHECK_INT(strangers, 0);
    CHECK_INT(fi_mem_live().blocks, 0);
    CHECK_INT(fi_mem_live().bytes, 0);
    CHECK_INT(filch_set_allocator(NULL), 0);
}

/* Two threads alternate: one replaces the allocator, one allocates.  The alternation is relaxed, so
 * only the count of live blocks orders their accesses to the allocator.  ThreadSanitizer reports
 * any of its orders that is too weak. */
#define ROUNDS_EACH 100

static FI_ATOMIC(int) turn;

static void wait_for_turn(int mine)
{
    while (fi_load_relaxed(&turn) != mine)
        sched_yield();
}

static void *allocate_alternately(void *arg)
{
    for (int i = 0; i < ROUNDS_EACH; i++) {
        wait_for_turn(2 * i + 1);
        fi_mem_free(fi_mem_alloc(32, 16), 32, 16);
        fi_store_relaxed(&turn, 2 * i + 2);
    }
    return arg;
}

static void test_replaced_alternately(void **state)
{
    static int red, blue;
    filch_allocator a[2] = {{marked_alloc, marked_free, &red}, {marked_alloc, marked_free, &blue}};
    pthread_t thread;

    (void)state;
    CHECK_INT(pthread_create(&thread, NULL, allocate_alternately, NULL), 0);
    for (int i = 0; i < ROUNDS_EACH; i++) {
        wait_for_turn(2 * i);
        CHECK_INT(filch_set_allocator(&a[i % 2]), 0);
        fi_store_relaxed(&turn, 2 * i + 1);
    }
    pthread_join(thread, NULL);
    CHECK_INT(strangers, 0);
    CHECK_INT(filch_set_allocator(NULL), 0);
}

CHECK_MAIN(test_zeroed_and_aligned, test_counts, test_too_much_is_refused,
           test_array_overflow_is_refused, test_custom_allocator, test_set_allocator_errors,
           test_misuse_aborts, test_replaced_alternately, test_replaced_while_in_use)
