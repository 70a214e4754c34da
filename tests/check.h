/* Assertions of the tests: cmocka if it is installed, else (in cross builds) a small replacement
 * that prints the same last line. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FILCH_HAVE_CMOCKA
#include <cmocka.h>

#define CHECK(condition) assert_true(condition)
#define CHECK_INT(a, b)  assert_int_equal((long long)(a), (long long)(b))
#define CHECK_STR(a, b)  assert_string_equal((a), (b))

#define CHECK_TEST(fn)   cmocka_unit_test(fn)
#define CHECK_RUN(tests) cmocka_run_group_tests(tests, NULL, NULL)

#else

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define CHECK_FAIL(...)                                                                            \
    (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), fprintf(stderr, __VA_ARGS__), exit(1))
#define CHECK(condition) ((condition) ? (void)0 : CHECK_FAIL("not true: %s\n", #condition))
#define CHECK_INT(a, b)                                                                            \
    ((long long)(a) == (long long)(b)                                                              \
         ? (void)0                                                                                 \
         : CHECK_FAIL("%s is %lld, not %lld\n", #a, (long long)(a), (long long)(b)))
#define CHECK_STR(a, b)                                                                            \
    (strcmp((a), (b)) == 0 ? (void)0 : CHECK_FAIL("%s is \"%s\", not \"%s\"\n", #a, (a), (b)))

#define CHECK_TEST(fn)                                                                             \
    {                                                                                              \
#fn, fn                                                                                    \
    }
#define CHECK_RUN(tests) check_run((tests), sizeof(tests) / sizeof((tests)[0]))

static inline int check_run(const struct CMUnitTest *tests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        printf("[ RUN      ] %s\n", tests[i].name);
        fflush(stdout);
        tests[i].run(NULL);
        printf("[       OK ] %s\n", tests[i].name);
    }
    printf("%zu passed, 0 failed\n", n);
    return 0;
}
#endif

/* CHECK_MAIN(a, b, c) defines a main that runs up to 16 tests in order. */
#define CHECK_1(a)                                                              CHECK_TEST(a)
#define CHECK_2(a, ...)                                                         CHECK_TEST(a), CHECK_1(__VA_ARGS__)
#define CHECK_3(a, ...)                                                         CHECK_TEST(a), CHECK_2(__VA_ARGS__)
#define CHECK_4(a, ...)                                                         CHECK_TEST(a), CHECK_3(__VA_ARGS__)
#define CHECK_5(a, ...)                                                         CHECK_TEST(a), CHECK_4(__VA_ARGS__)
#define CHECK_6(a, ...)                                                         CHECK_TEST(a), CHECK_5(__VA_ARGS__)
#define CHECK_7(a, ...)                                                         CHECK_TEST(a), CHECK_6(__VA_ARGS__)
#define CHECK_8(a, ...)                                                         CHECK_TEST(a), CHECK_7(__VA_ARGS__)
#define CHECK_9(a, ...)                                                         CHECK_TEST(a), CHECK_8(__VA_ARGS__)
#define CHECK_10(a, ...)                                                        CHECK_TEST(a), CHECK_9(__VA_ARGS__)
#define CHECK_11(a, ...)                                                        CHECK_TEST(a), CHECK_10(__VA_ARGS__)
#define CHECK_12(a, ...)                                                        CHECK_TEST(a), CHECK_11(__VA_ARGS__)
#define CHECK_13(a, ...)                                                        CHECK_TEST(a), CHECK_12(__VA_ARGS__)
#define CHECK_14(a, ...)                                                        CHECK_TEST(a), CHECK_13(__VA_ARGS__)
#define CHECK_15(a, ...)                                                        CHECK_TEST(a), CHECK_14(__VA_ARGS__)
#define CHECK_16(a, ...)                                                        CHECK_TEST(a), CHECK_15(__VA_ARGS__)
#define CHECK_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, chosen, ...) chosen
#define CHECK_EACH(...)                                                                            \
    CHECK_PICK(__VA_ARGS__, CHECK_16, CHECK_15, CHECK_14, CHECK_13, CHECK_12, CHECK_11, CHECK_10,  \
               CHECK_9, CHECK_8, CHECK_7, CHECK_6, CHECK_5, CHECK_4, CHECK_3, CHECK_2, CHECK_1, 0) \
    (__VA_ARGS__)
#define CHECK_MAIN(...)                                                                            \
    int main(void)                                                                                 \
    {                                                                                              \
        const struct CMUnitTest tests[] = {CHECK_EACH(__VA_ARGS__)};                               \
        return CHECK_RUN(tests);                                                                   \
    }

#endif
