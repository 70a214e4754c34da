/* The limits of a task: number and types of arguments, number of open tasks, depth. */
#include "unit/task/helpers.h"

typedef struct point {
    double x, y, z;
} point;

typedef struct aligned16 {
    _Alignas(16) char bytes[48];
} aligned16;

typedef struct large {
    unsigned char bytes[1000];
} large;

typedef struct odd {
    char bytes[3];
} odd;

FILCH_TASK(int, none)
{
    return 1;
}
FILCH_TASK(int, one, char, a)
{
    return a;
}
FILCH_TASK(int, two, char, a, long, b)
{
    return a + (int)b;
}
FILCH_TASK(int, three, char, a, long, b, float, c)
{
    return a + (int)b + (int)c;
}
FILCH_TASK(int, four, char, a, long, b, float, c, short, d)
{
    return a + (int)b + (int)c + d;
}
FILCH_TASK(int, five, char, a, long, b, float, c, short, d, int *, e)
{
    return a + (int)b + (int)c + d + *e;
}
FILCH_TASK(int, six, char, a, long, b, float, c, short, d, int *, e, double, f)
{
    return a + (int)b + (int)c + d + *e + (int)f;
}
FILCH_TASK(int, seven, char, a, long, b, float, c, short, d, int *, e, double, f, char, g)
{
    return a + (int)b + (int)c + d + *e + (int)f + g;
}
FILCH_TASK(int, eight, char, a, long, b, float, c, short, d, int *, e, double, f, char, g, odd, h)
{
    return a + (int)b + (int)c + d + *e + (int)f + g + h.bytes[2];
}
FILCH_VOID_TASK(bump, int *, a)
{
    ++*a;
}
FILCH_VOID_TASK(nothing)
{
}

/* All are open at once on one stack and synced in reverse order. */
FILCH_TASK(int, all, int, e)
{
    odd h = {{0, 0, 8}};
    int sum = 0, bumped = 0;

    FILCH_SPAWN(none);
    FILCH_SPAWN(one, 1);
    FILCH_SPAWN(two, 1, 2);
    FILCH_SPAWN(three, 1, 2, 3.5f);
    FILCH_SPAWN(four, 1, 2, 3.5f, 4);
    FILCH_SPAWN(five, 1, 2, 3.5f, 4, &e);
    FILCH_SPAWN(six, 1, 2, 3.5f, 4, &e, 6.5);
    FILCH_SPAWN(seven, 1, 2, 3.5f, 4, &e, 6.5, 7);
    FILCH_SPAWN(eight, 1, 2, 3.5f, 4, &e, 6.5, 7, h);
    FILCH_SPAWN(bump, &bumped);
    FILCH_SPAWN(nothing);
    FILCH_CALL(nothing);
    FILCH_SYNC(nothing);
    FILCH_SYNC(bump);
    sum += FILCH_SYNC(eight);
    sum += FILCH_SYNC(seven);
    sum += FILCH_SYNC(six);
    sum += FILCH_SYNC(five);
    sum += FILCH_SYNC(four);
    sum += FILCH_SYNC(three);
    sum += FILCH_SYNC(two);
    sum += FILCH_SYNC(one);
    return sum + FILCH_SYNC(none) + bumped;
}

#define SUM_OF_ALL (1 + 1 + 3 + 6 + 10 + 15 + 21 + 28 + 36 + 1)

static void all_numbers_of_arguments(void)
{
    int e = 5;
    odd h = {{0, 0, 8}};

    for (int i = 0; i < SCALED(2000); i++)
        CHECK_INT(FILCH_RUN(all, 5), SUM_OF_ALL);
    CHECK_INT(FILCH_RUN(none), 1);
    CHECK_INT(FILCH_RUN(eight, 1, 2, 3.5f, 4, &e, 6.5, 7, h), 36);
    FILCH_RUN(bump, &e);
    FILCH_RUN(nothing);
    CHECK_INT(e, 6);
}

FILCH_TASK(point, middle, point, a, point, b)
{
    return (point){(a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2};
}
FILCH_TASK(aligned16, shifted, aligned16, a, char, by)
{
    if ((uintptr_t)&a % 16 != 0)
        abort();
    for (size_t i = 0; i < sizeof a.bytes; i++)
        a.bytes[i] = (char)(a.bytes[i] + by);
    return a;
}
FILCH_TASK(large, filled, large, a, int, n)
{
    if (n > 0) {
        FILCH_SPAWN(filled, a, n - 1);
        a = FILCH_SYNC(filled);
    }
    a.bytes[n] = (unsigned char)(n + 1);
    return a;
}

FILCH_TASK(int, structs, int, n)
{
    point m = {0, 0, 0};
    aligned16 s = {{0}};
    int ok;

    FILCH_SPAWN(shifted, s, (char)n);
    FILCH_SPAWN(middle, m, ((point){2, 4, (double)n}));
    m = FILCH_SYNC(middle);
    s = FILCH_SYNC(shifted);
    ok = m.x == 1 && m.y == 2 && m.z == n / 2.0;
    for (size_t i = 0; i < sizeof s.bytes; i++)
        ok = ok && s.bytes[i] == (char)n;
    return ok;
}

FILCH_TASK(int, all_structs, int, n)
{
    int ok = 0;

    for (int i = 0; i < n; i++)
        FILCH_SPAWN(structs, i);
    for (int i = 0; i < n; i++)
        ok += FILCH_SYNC(structs);
    return ok;
}

static void structs_as_arguments_and_results(void)
{
    large empty = {{0}}, l;

    CHECK_INT(FILCH_RUN(all_structs, 500), 500);
    l = FILCH_RUN(filled, empty, 99);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(l.bytes[i], i < 100 ? i + 1 : 0);
}

FILCH_TASK(long, square, long, i)
{
    return i * i;
}
FILCH_TASK(long, open_many, long, n)
{
    long sum = 0;

    for (long i = 0; i < n; i++)
        FILCH_SPAWN(square, i);
    for (long i = 0; i < n; i++)
        sum += FILCH_SYNC(square);
    return sum;
}

static long squares_below(long n)
{
    return (n - 1) * n / 2 * (2 * n - 1) / 3;
}

static void any_number_may_be_open(void)
{
    long n = FI_UNDER_TSAN ? 50000 : 1000000;

    CHECK_INT(FILCH_RUN(open_many, 300), squares_below(300));
    CHECK_INT(FILCH_RUN(open_many, n), squares_below(n));
    CHECK_INT(FILCH_RUN(open_many, 300), squares_below(300));
}

FILCH_TASK(long, deep, long, n)
{
    if (n == 0)
        return 0;
    FILCH_SPAWN(deep, n - 1);
    return FILCH_SYNC(deep) + 1;
}
FILCH_TASK(long, deep_call, long, n)
{
    long a;

    if (n == 0)
        return 0;
    FILCH_SPAWN(square, n);
    a = FILCH_CALL(deep_call, n - 1);
    return a + (FILCH_SYNC(square) == n * n);
}

static void recursion_may_be_deep(void)
{
    /* ThreadSanitizer's own stack holds 65,536 calls, and that of a thread 8 MiB. */
    long n = FI_UNDER_TSAN || IS_SERIAL ? 5000 : 100000;

    CHECK_INT(FILCH_RUN(deep, n), n);
    CHECK_INT(FILCH_RUN(deep_call, n), n);
}

static void shapes(void **state)
{
    (void)state;
    workers_each(NULL, all_numbers_of_arguments);
    workers_each(&(filch_config){.stack_size = (size_t)1 << 20}, structs_as_arguments_and_results);
}

static void many_open(void **state)
{
    (void)state;
    workers_each(NULL, any_number_may_be_open);
    workers_each_with((lab_settings){.publish = "eager"}, NULL, any_number_may_be_open);
}

static void deep_recursion(void **state)
{
    (void)state;
    workers_each(&(filch_config){.stack_size = (size_t)64 << 20}, recursion_may_be_deep);
}

CHECK_MAIN(shapes, many_open, deep_recursion)
