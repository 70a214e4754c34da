/* filch_alloc and filch_free use the current allocator and pass it the size. */
#include "check.h"

#include "base/mem.h"

#include <errno.h>
#include <filch/memory.h>

static size_t given, taken;
static int calls;

static void *give(void *ctx, size_t size, size_t align)
{
    CHECK(ctx == &given);
    CHECK(align == 64);
    given += size;
    calls++;
    return size < 1000000 ? aligned_alloc(align, (size + align - 1) / align * align) : NULL;
}

static void take(void *ctx, void *p, size_t size, size_t align)
{
    CHECK(ctx == &given);
    CHECK(align == 64);
    taken += size;
    free(p);
}

static void default_allocator(void **state)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 70000, 9000000};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *p = filch_alloc(sizes[i]);

        CHECK(p != NULL);
        CHECK((uintptr_t)p % 64 == 0);
        memset(p, 0xff, sizes[i]);
        CHECK_INT(fi_mem_live().blocks, 1);
        CHECK_INT(fi_mem_live().bytes, sizes[i] + (sizes[i] == 0));
        CHECK_INT(filch_set_allocator(NULL), -EBUSY);
        filch_free(p, sizes[i]);
        CHECK_INT(fi_mem_live().blocks, 0);
    }
    filch_free(NULL, 5);
    filch_free(NULL, 0);
}

static void users_allocator(void **state)
{
    filch_allocator mine = {give, take, &given};
    char *p, *q;

    (void)state;
    CHECK_INT(filch_set_allocator(&mine), 0);
    p = filch_alloc(100);
    q = filch_alloc(0);
    CHECK(p && q && calls == 2);
    memset(p, 'x', 100);
    CHECK(filch_alloc(1000000) == NULL);
    CHECK_INT(given, 100 + 1 + 1000000);
    filch_free(p, 100);
    filch_free(q, 0);
    CHECK_INT(taken, 100 + 1);
    CHECK_INT(filch_set_allocator(NULL), 0);
}

static void too_much_is_refused(void **state)
{
    (void)state;
    CHECK(filch_alloc(SIZE_MAX) == NULL);
    CHECK(filch_alloc((size_t)PTRDIFF_MAX + 1) == NULL);
    CHECK_INT(fi_mem_live().blocks, 0);
}

CHECK_MAIN(default_allocator, users_allocator, too_much_is_refused)
