/* Valid shapes of a deque, the behaviour of each kind at its limits, and how much a steal
 * takes. */
#include "check.h"

#include "child.h"
#include "unit/deque/settings.h"

static int init_result(const fi_deque_ops *kind, uint32_t capacity, uint32_t batch)
{
    fi_deque_config c = {.capacity = capacity, .batch = batch};
    fi_deque *const untouched = (fi_deque *)&c;
    fi_deque *d = untouched;
    int e = fi_deque_new(kind, &c, &d);
    if (e == 0)
        fi_deque_free(d);
    else
        CHECK(d == untouched);
    return e;
}

static void invalid_shapes_are_refused(void **state)
{
    (void)state;
    for (const fi_deque_ops *const *k = fi_deque_kinds; *k; k++) {
        CHECK_INT(init_result(*k, 3, 0), -EINVAL);
        CHECK_INT(init_result(*k, 255, 0), -EINVAL);
        CHECK_INT(init_result(*k, FI_DEQUE_MAX_CAPACITY * 2, 0), -EINVAL);
        CHECK_INT(init_result(*k, UINT32_MAX, 0), -EINVAL);
        CHECK_INT(init_result(*k, 4, FI_DEQUE_MAX_BATCH + 1), -EINVAL);
        CHECK_INT(init_result(*k, 4, UINT32_MAX), -EINVAL);
        CHECK_INT(init_result(*k, 0, 0), 0);
        CHECK_INT(init_result(*k, 1, 1), 0);
    }
    CHECK_INT(init_result(&fi_deque_bounded, 4, 2), -EINVAL); /* a steal takes one item */
}

static void kinds_have_names(void **state)
{
    (void)state;
    for (const fi_deque_ops *const *k = fi_deque_kinds; *k; k++)
        CHECK(fi_deque_kind_named((*k)->name) == *k);
    CHECK(fi_deque_kind_named("") == NULL);
    CHECK(fi_deque_kind_named("Batch") == NULL);
}

static char x[2000];

static uint32_t fill(fi_deque *d, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && fi_deque_push(d, &x[i]) == 0)
        i++;
    return i;
}

/* A full deque refuses a push, keeps its items, and accepts one after a pop or a steal. */
static void a_full_deque_refuses(void **state)
{
    (void)state;
    for (const setting *s = settings; s < settings + SETTINGS; s++) {
        if (s->kind == &fi_deque_batch)
            continue;
        fi_deque *d = deque_of(s, 1);
        void *out[1];
        CHECK_INT(fill(d, s->capacity + 1), s->capacity);
        CHECK_INT(fi_deque_push(d, &x[0]), -ENOSPC);
        CHECK_INT(fi_deque_size(d), s->capacity);
        CHECK(fi_deque_pop(d) != NULL);
        CHECK_INT(fi_deque_push(d, &x[0]), 0);
        CHECK_INT(fi_deque_steal(d, out, 1), 1);
        CHECK_INT(fi_deque_push(d, &x[0]), 0);
        CHECK_INT(fi_deque_push(d, &x[0]), -ENOSPC);
        fi_deque_free(d);
    }
}

static void batch_grows(void **state)
{
    (void)state;
    fi_deque_config c = {.capacity = 1, .batch = 4, .first_index = UINT32_MAX - 500u};
    fi_deque *d;
    CHECK_INT(fi_deque_new(&fi_deque_batch, &c, &d), 0);
    CHECK_INT(fill(d, 1000), 1000);
    CHECK_INT(fi_deque_capacity(d), 1024);
    for (int i = 999; i >= 0; i--)
        CHECK(fi_deque_pop(d) == &x[i]);
    CHECK(fi_deque_pop(d) == NULL);
    CHECK_INT(fi_deque_capacity(d), 1024);
    fi_deque_free(d);
}

/* The owner alone pops at one end and steals at the other, down to the last item and again. */
static void batch_without_thieves(void **state)
{
    (void)state;
    fi_deque_config c = {.capacity = 4, .first_index = UINT32_MAX - 20u, .no_thieves = true};
    fi_deque *d;
    void *old;
    CHECK_INT(fi_deque_new(&fi_deque_batch, &c, &d), 0);
    for (int n = 0; n < 50; n++) {
        int first = 0, last = n - 1;
        CHECK_INT(fill(d, (uint32_t)n), n);
        while (first <= last) {
            CHECK(fi_deque_pop(d) == &x[last--]);
            CHECK_INT(fi_deque_steal(d, &old, 1), first <= last ? 1 : FI_STEAL_EMPTY);
            if (first <= last)
                CHECK(old == &x[first++]);
            CHECK_INT(fi_deque_size(d), last - first + 1);
        }
        CHECK(fi_deque_pop(d) == NULL);
    }
    fi_deque_free(d);
}

static int stolen_of(const fi_deque_ops *kind, uint32_t batch, uint32_t n, uint32_t max)
{
    const setting s = {kind, 256, batch};
    void *out[128];
    fi_deque *d = deque_of(&s, 7);
    CHECK_INT(fill(d, n), n);
    int got = fi_deque_steal(d, out, max);
    for (int i = 0; i < got; i++)
        CHECK(out[i] == &x[i]); /* oldest first */
    CHECK_INT(fi_deque_size(d), (int)n - got);
    fi_deque_free(d);
    return got;
}

static void a_steal_takes_its_share(void **state)
{
    (void)state;
    CHECK_INT(stolen_of(&fi_deque_bounded, 0, 100, 128), 1);
    CHECK_INT(stolen_of(&fi_deque_locked, 0, 100, 128), 1);
    CHECK_INT(stolen_of(&fi_deque_locked, 8, 100, 128), 8);
    CHECK_INT(stolen_of(&fi_deque_batch, 8, 100, 128), 8);
    CHECK_INT(stolen_of(&fi_deque_batch, 8, 100, 3), 3);
    CHECK_INT(stolen_of(&fi_deque_batch, 8, 5, 128), 3); /* half, rounded up */
    CHECK_INT(stolen_of(&fi_deque_batch, 64, 1, 128), 1);
    CHECK_INT(stolen_of(&fi_deque_half, 0, 100, 128), 50);
    CHECK_INT(stolen_of(&fi_deque_half, 0, 5, 128), 3);
    CHECK_INT(stolen_of(&fi_deque_half, 0, 1, 128), 1);
    CHECK_INT(stolen_of(&fi_deque_half, 4, 100, 128), 4);
    CHECK_INT(stolen_of(&fi_deque_half, 0, 256, 128), 128);
}

#ifdef NDEBUG

static void push_of_null_is_caught(void **state)
{
    (void)state;
    printf("skipped: push_of_null_is_caught: only debug builds have assertions\n");
}

#else

static const fi_deque_ops *kind_to_break;

static void push_null(void)
{
    fi_deque *d;
    if (fi_deque_new(kind_to_break, &(fi_deque_config){0}, &d) == 0)
        fi_deque_push(d, NULL);
}

static void push_of_null_is_caught(void **state)
{
    (void)state;
    for (const fi_deque_ops *const *k = fi_deque_kinds; *k; k++) {
        kind_to_break = *k;
        CHECK(aborts_with(push_null, "item != NULL"));
    }
}

#endif

CHECK_MAIN(invalid_shapes_are_refused, kinds_have_names, a_full_deque_refuses, batch_grows,
           batch_without_thieves, a_steal_takes_its_share, push_of_null_is_caught)
