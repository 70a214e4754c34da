/* Tests of the fault injector itself: it detects each kind of mistake. */
#include "base/mem.h"
#include "check.h"
#include "child.h"
#include "fault/inject.h"

#include <errno.h>

static void test_the_nth_fails(void **state)
{
    (void)state;
    inject_start(2, false);
    void *a = fi_mem_alloc(10, 8);
    void *b = fi_mem_alloc(10, 8);
    void *c = fi_mem_alloc(10, 8);
    CHECK(a != NULL && b == NULL && c != NULL);
    CHECK_INT(inject_live(), 2);
    CHECK_INT(inject_n_allocations(), 3);
    fi_mem_free(a, 10, 8);
    fi_mem_free(c, 10, 8);
    CHECK_INT(inject_live(), 0);
    CHECK(inject_stop());
}

static void test_all_after_it_fail(void **state)
{
    (void)state;
    inject_start(2, true);
    void *a = fi_mem_alloc(10, 8);
    CHECK(a != NULL);
    CHECK(fi_mem_alloc(10, 8) == NULL);
    CHECK(fi_mem_alloc(10, 8) == NULL);
    fi_mem_free(a, 10, 8);
    CHECK(inject_stop());
}

static void test_never(void **state)
{
    (void)state;
    inject_start(INJECT_NEVER, true);
    char *p = fi_mem_alloc(1000, 4096);
    CHECK(p != NULL);
    CHECK_INT((uintptr_t)p % 4096, 0);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(p[i], 0);
    fi_mem_free(p, 1000, 4096);
    CHECK(!inject_stop());
}

/* Needs two blocks; a third is optional. */
static int correct(void *arg)
{
    int *runs = arg;
    void *a = fi_mem_alloc(10, 8);
    void *b = a != NULL ? fi_mem_alloc(20, 64) : NULL;
    void *c = b != NULL ? fi_mem_alloc(30, 128) : NULL;

    ++*runs;
    fi_mem_free(a, 10, 8);
    fi_mem_free(b, 20, 64);
    fi_mem_free(c, 30, 128);
    return b != NULL ? 0 : -ENOMEM;
}

/* One run without a failure, two for each of three allocations, and one more without. */
static void test_every(void **state)
{
    int runs = 0;

    (void)state;
    CHECK_INT(inject_every(correct, &runs), 3);
    CHECK_INT(runs, 8);
}

static int leaks(void *arg)
{
    void *a = fi_mem_alloc(10, 8);
    void *b = fi_mem_alloc(20, 8);

    (void)arg;
    if (a == NULL || b == NULL)
        return -ENOMEM; /* and leaks the other */
    fi_mem_free(a, 10, 8);
    fi_mem_free(b, 20, 8);
    return 0;
}

static int returns_other_error(void *arg)
{
    (void)arg;
    return -EIO;
}

static int fails_without_reason(void *arg)
{
    (void)arg;
    return -ENOMEM;
}

static void run_leaks(void)
{
    inject_every(leaks, NULL);
}

static void run_other_error(void)
{
    inject_every(returns_other_error, NULL);
}

static void run_failure(void)
{
    inject_every(fails_without_reason, NULL);
}

static void test_every_detects_faults(void **state)
{
    (void)state;
    CHECK(aborts_with(run_leaks, "1 blocks left over, the newest of size 20 and alignment 8 "
                                 "(allocation 1 made to fail)"));
    CHECK(aborts_with(run_other_error, "returned -5 instead of"));
    CHECK(aborts_with(run_failure, "although no allocation failed"));
}

static void wrong_size(void)
{
    inject_start(INJECT_NEVER, false);
    fi_mem_free(fi_mem_alloc(10, 8), 11, 8);
}

static void wrong_align(void)
{
    inject_start(INJECT_NEVER, false);
    fi_mem_free(fi_mem_alloc(10, 8), 10, 16);
}

static void twice(void)
{
    inject_start(INJECT_NEVER, false);
    void *keep = fi_mem_alloc(10, 8), *p = fi_mem_alloc(10, 8);
    (void)keep;
    fi_mem_free(p, 10, 8);
    fi_mem_free(p, 10, 8);
}

static void behind_the_end(void)
{
    inject_start(INJECT_NEVER, false);
    char *p = fi_mem_alloc(10, 8);
    p[10] = 1;
    fi_mem_free(p, 10, 8);
}

static void before_the_beginning(void)
{
    inject_start(INJECT_NEVER, false);
    char *p = fi_mem_alloc(10, 8);
    p[-1] = 1;
    fi_mem_free(p, 10, 8);
}

static void while_in_use(void)
{
    fi_mem_alloc(10, 8);
    inject_start(INJECT_NEVER, false);
}

static void test_detects_misuse(void **state)
{
    (void)state;
    CHECK(aborts_with(wrong_size, "size 10 and alignment 8, freed with 11 and 8"));
    CHECK(aborts_with(wrong_align, "freed with 10 and 16"));
    CHECK(aborts_with(twice, "freed twice"));
    CHECK(aborts_with(behind_the_end, "behind its end"));
    CHECK(aborts_with(before_the_beginning, "before its beginning"));
    CHECK(aborts_with(while_in_use, "in use already"));
}

CHECK_MAIN(test_the_nth_fails, test_all_after_it_fail, test_never, test_every,
           test_every_detects_faults, test_detects_misuse)
