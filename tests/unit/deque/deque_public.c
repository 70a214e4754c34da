/* <filch/deque.h>: attributes, order of each kind, errors, memory, and that no thread is started.
 * The contract suite covers the rest (tests/stress/deque). */
#include "check.h"

#include "child.h"
#include "deque/deque.h"

#include <filch/deque.h>
#include <filch/memory.h>
#include <filch/runtime.h>

static char x[256];

static void push_n(filch_deque *d, int n)
{
    for (int i = 0; i < n; i++)
        CHECK_INT(filch_deque_push(d, &x[i]), 0);
}

static int threads(void)
{
    char line[128];
    int n = -1;
    FILE *status = fopen("/proc/self/status", "r");

    CHECK(status != NULL);
    while (n < 0 && fgets(line, sizeof line, status))
        sscanf(line, "Threads: %d", &n);
    fclose(status);
    return n;
}

static void no_runtime_and_no_thread(void **state)
{
    int before = threads();
    void *out[4];
    filch_deque *d = filch_deque_new(NULL);

    (void)state;
    CHECK(d != NULL);
    push_n(d, 10);
    CHECK_INT(filch_deque_steal(d, out, 4), 4);
    CHECK(filch_deque_pop(d) == &x[9]);
    CHECK_INT(filch_deque_size(d), 5);
    filch_deque_free(d);
    CHECK_INT(threads(), before);
    CHECK_INT(filch_worker_count(), 0);
}

/* The kind, the order for the owner, and how much a steal of 64 takes from 64 items. */
static void check_kind(filch_deque_kind kind, unsigned steal_max, bool fifo, int takes)
{
    filch_deque_attr attr = {.kind = kind, .steal_max = steal_max};
    void *out[64];
    filch_deque *d = filch_deque_new(&attr);

    CHECK(d != NULL);
    push_n(d, 64);
    CHECK_INT(filch_deque_steal(d, out, 64), takes);
    for (int i = 0; i < takes; i++)
        CHECK(out[i] == &x[i]);
    CHECK(filch_deque_pop(d) == &x[fifo ? takes : 63]);
    filch_deque_free(d);
}

static void each_kind(void **state)
{
    (void)state;
    check_kind(FILCH_DEQUE_BATCH, 0, false, 8);
    check_kind(FILCH_DEQUE_BATCH, 20, false, 20);
    check_kind(FILCH_DEQUE_BATCH, 64, false, 32);
    check_kind(FILCH_DEQUE_BOUNDED, 0, false, 1);
    check_kind(FILCH_DEQUE_BOUNDED, 1, false, 1);
    check_kind(FILCH_DEQUE_HALF, 0, true, 32);
    check_kind(FILCH_DEQUE_HALF, 3, true, 3);
    check_kind(FILCH_DEQUE_LOCKED, 0, false, 1);
    check_kind(FILCH_DEQUE_LOCKED, 20, false, 20);
}

static int pushes_until_full(unsigned capacity)
{
    filch_deque_attr attr = {.kind = FILCH_DEQUE_BOUNDED, .capacity = capacity};
    filch_deque *d = filch_deque_new(&attr);
    int n = 0, e;

    CHECK(d != NULL);
    while ((e = filch_deque_push(d, x)) == 0)
        n++;
    CHECK_INT(e, -ENOSPC);
    CHECK_INT(filch_deque_size(d), n);
    filch_deque_free(d);
    return n;
}

static void capacity_is_rounded_up(void **state)
{
    (void)state;
    CHECK_INT(pushes_until_full(0), 256);
    CHECK_INT(pushes_until_full(1), 1);
    CHECK_INT(pushes_until_full(2), 2);
    CHECK_INT(pushes_until_full(3), 4);
    CHECK_INT(pushes_until_full(1000), 1024);
}

static void wrong_call(void *arg)
{
    filch_deque *d = filch_deque_new(NULL);
    void *out[1];
    int failed = 0;

    switch (*(int *)arg) {
    case 0:
        failed = filch_deque_new(&(filch_deque_attr){.kind = (filch_deque_kind)4}) == NULL;
        break;
    case 1:
        failed = filch_deque_new(&(filch_deque_attr){.capacity = (1u << 30) + 1}) == NULL;
        break;
    case 2:
        failed = filch_deque_new(&(filch_deque_attr){.steal_max = 65}) == NULL;
        break;
    case 3:
        failed = filch_deque_new(&(filch_deque_attr){FILCH_DEQUE_BOUNDED, 0, 2}) == NULL;
        break;
    case 4:
        failed = filch_deque_push(d, NULL) == -EINVAL && filch_deque_size(d) == 0;
        break;
    case 5:
        failed = filch_deque_push(NULL, x) == -EINVAL;
        break;
    case 6:
        failed = filch_deque_pop(NULL) == NULL;
        break;
    case 7:
        failed = filch_deque_steal(NULL, out, 1) == -EINVAL;
        break;
    case 8:
        failed = filch_deque_steal(d, NULL, 1) == -EINVAL;
        break;
    case 9:
        failed = filch_deque_steal(d, out, 0) == -EINVAL;
        break;
    case 10:
        failed = filch_deque_size(NULL) == 0;
        break;
    default:
        break;
    }
    filch_deque_free(d);
    _exit(failed ? 0 : 1);
}

static void wrong_arguments_are_named(void **state)
{
    static const char *const messages[] = {
        "filch: filch_deque_new: kind: not a filch_deque_kind (4); use a constant of that type\n",
        "filch: filch_deque_new: capacity: too large (1073741825); use up to 1073741824\n",
        "filch: filch_deque_new: steal_max: too large (65); use up to 64\n",
        "filch: filch_deque_new: steal_max: a bounded deque supports only 1 (2); use 0 or 1\n",
        "filch: filch_deque_push: item is NULL; pass another pointer\n",
        "filch: filch_deque_push: d is NULL; pass a deque of filch_deque_new\n",
        "filch: filch_deque_pop: d is NULL; pass a deque of filch_deque_new\n",
        "filch: filch_deque_steal: d is NULL; pass a deque of filch_deque_new\n",
        "filch: filch_deque_steal: items is NULL; pass an array\n",
        "filch: filch_deque_steal: max is 0; pass the length of items\n",
        "filch: filch_deque_size: d is NULL; pass a deque of filch_deque_new\n",
    };

    (void)state;
    for (int i = 0; i < (int)(sizeof messages / sizeof *messages); i++) {
        struct child_end end;
        CHECK_INT(child_end_of(&end, wrong_call, &i), 0);
        CHECK_STR(end.text, messages[i]);
        CHECK_INT(end.status, 0);
    }
    filch_deque_free(NULL);
}

/* ---- the result of a steal ---- */

static int steal_result;
static uint32_t steal_wanted;

static int fake_steal(fi_deque *d, void **out, uint32_t max)
{
    (void)d, (void)out;
    steal_wanted = max;
    return steal_result;
}

static int steal_from_fake(int result, size_t max)
{
    static const fi_deque_ops ops = {.steal = fake_steal};
    fi_deque fake = {&ops};
    void *out[1];

    steal_result = result;
    return filch_deque_steal(&fake, out, max);
}

static void a_lost_race_has_one_error(void **state)
{
    (void)state;
    CHECK_INT(steal_from_fake(FI_STEAL_LOST, 1), -EAGAIN);
    CHECK_INT(steal_from_fake(FI_STEAL_LOST_SEVERAL, 1), -EAGAIN);
    CHECK_INT(steal_from_fake(FI_STEAL_EMPTY, 1), 0);
    CHECK_INT(steal_from_fake(1, SIZE_MAX), 1);
    CHECK_INT(steal_wanted, UINT32_MAX);
    CHECK_INT(steal_from_fake(1, 7), 1);
    CHECK_INT(steal_wanted, 7);
}

/* ---- memory ---- */

static int live_blocks;

static void *count_alloc(void *ctx, size_t size, size_t align)
{
    (void)ctx;
    live_blocks++;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void count_free(void *ctx, void *block, size_t size, size_t align)
{
    (void)ctx, (void)size, (void)align;
    live_blocks--;
    free(block);
}

static void memory_of_the_allocator(void **state)
{
    filch_allocator mine = {count_alloc, count_free, NULL};

    (void)state;
    CHECK_INT(filch_set_allocator(&mine), 0);
    for (int kind = FILCH_DEQUE_BATCH; kind <= FILCH_DEQUE_LOCKED; kind++) {
        filch_deque_attr attr = {.kind = (filch_deque_kind)kind, .capacity = 64};
        filch_deque *d = filch_deque_new(&attr);
        CHECK(d != NULL);
        CHECK(live_blocks > 0);
        push_n(d, 64);
        CHECK_INT(filch_deque_push(d, x), kind == FILCH_DEQUE_BATCH ? 0 : -ENOSPC);
        CHECK_INT(filch_set_allocator(NULL), -EBUSY);
        filch_deque_free(d);
        CHECK_INT(live_blocks, 0);
    }
    CHECK_INT(filch_set_allocator(NULL), 0);
}

CHECK_MAIN(no_runtime_and_no_thread, each_kind, capacity_is_rounded_up, wrong_arguments_are_named,
           a_lost_race_has_one_error, memory_of_the_allocator)
