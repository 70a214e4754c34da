/* Structs of programs with an older header (fewer fields) and a newer one (more fields). */
#include "base/sized.h"
#include "check.h"

#include <errno.h>

typedef struct fields {
    uint64_t a, b;
} fields;

static void test_same_size(void **state)
{
    fields from = {1, 2}, to = {0, 0};

    (void)state;
    CHECK_INT(fi_sized_read("test", &to, sizeof to, &from, sizeof from), 0);
    CHECK_INT(to.a, 1);
    CHECK_INT(to.b, 2);
}

static void test_null_is_zeros(void **state)
{
    fields to = {1, 2};

    (void)state;
    CHECK_INT(fi_sized_read("test", &to, sizeof to, NULL, sizeof to), 0);
    CHECK_INT(to.a, 0);
    CHECK_INT(to.b, 0);
}

static void test_fewer_fields(void **state)
{
    fields from = {1, 2}, to = {3, 4};

    (void)state;
    CHECK_INT(fi_sized_read("test", &to, sizeof to, &from, sizeof from.a), 0);
    CHECK_INT(to.a, 1);
    CHECK_INT(to.b, 0);
}

/* Each byte of an unknown field counts. */
static void test_more_fields(void **state)
{
    fields from = {1, 0};
    uint64_t to = 3;

    (void)state;
    CHECK_INT(fi_sized_read("test", &to, sizeof to, &from, sizeof from), 0);
    CHECK_INT(to, 1);
    for (int bit = 0; bit < 64; bit += 8) {
        from.b = UINT64_C(1) << bit;
        CHECK_INT(fi_sized_read("test", &to, sizeof to, &from, sizeof from), -EINVAL);
    }
}

static void test_write(void **state)
{
    fields from = {1, 2}, to = {3, 4};

    (void)state;
    fi_sized_write(&to, sizeof to.a, &from, sizeof from);
    CHECK_INT(to.a, 1);
    CHECK_INT(to.b, 4);
    fi_sized_write(&to, sizeof to, &from.b, sizeof from.b);
    CHECK_INT(to.a, 2);
    CHECK_INT(to.b, 0);
}

CHECK_MAIN(test_same_size, test_null_is_zeros, test_fewer_fields, test_more_fields, test_write)
