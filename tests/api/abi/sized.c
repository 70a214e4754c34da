/* A program that was compiled with other versions of the structs than the library.  With MORE each
 * struct has a last field `more` that the library does not know.  Without it each struct lacks its
 * last field.  The bytes behind each struct are not 0, so the test sees whether the library reads
 * or writes them.  Exits with 0 if all is right, and otherwise with the line of the first error. */
#include <filch/filch.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition) ((condition) ? (void)0 : exit(__LINE__))

static char behind[64];

#define WITH_BYTES_BEHIND(type, name)                                                              \
    struct {                                                                                       \
        type s;                                                                                    \
        char behind[sizeof behind];                                                                \
    } name;                                                                                        \
    memset(&name.s, 0, sizeof name.s);                                                             \
    memcpy(name.behind, behind, sizeof behind)

static void *alloc_block(void *ctx, size_t size, size_t align)
{
    (void)ctx;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void free_block(void *ctx, void *block, size_t size, size_t align)
{
    (void)ctx, (void)size, (void)align;
    free(block);
}

static void *fiber(void *arg)
{
    return arg;
}

static void detached(void *arg)
{
    filch_wait_group_done((filch_wait_group *)arg);
}

static void use_allocator(void)
{
    WITH_BYTES_BEHIND(filch_allocator, a);
    a.s.alloc = alloc_block;
    a.s.free = free_block;
#ifdef MORE
    a.s.more = 1;
    EXPECT(filch_set_allocator(&a.s) == -EINVAL);
    a.s.more = 0;
#endif
    EXPECT(filch_set_allocator(&a.s) == 0);
}

static void use_deque(void)
{
    WITH_BYTES_BEHIND(filch_deque_attr, a);
    a.s.kind = FILCH_DEQUE_HALF;
    a.s.capacity = 1;
#ifdef MORE
    a.s.more = 1;
    EXPECT(filch_deque_new(&a.s) == NULL);
    a.s.more = 0;
#endif
    filch_deque *d = filch_deque_new(&a.s);
    EXPECT(d != NULL);
    EXPECT(filch_deque_push(d, behind) == 0 && filch_deque_push(d, behind) == -ENOSPC);
    filch_deque_free(d);
}

static void use_config(void)
{
    WITH_BYTES_BEHIND(filch_config, c);
    c.s.workers = 3;
#ifdef MORE
    c.s.more = 1;
    EXPECT(filch_start(&c.s) == -EINVAL);
    c.s.more = 0;
#endif
    EXPECT(filch_start(&c.s) == 0);
    EXPECT(filch_worker_count() == 3);
}

static void use_attr(void)
{
    filch_wait_group g = {0};

    WITH_BYTES_BEHIND(filch_fiber_attr, a);
    a.s.name = "name";
#ifdef MORE
    a.s.more = 1;
    EXPECT(filch_fiber_start_attr(&a.s, fiber, NULL) == NULL);
    EXPECT(filch_go_attr(&a.s, detached, &g) == -EINVAL);
    a.s.more = 0;
#endif
    filch_fiber *f = filch_fiber_start_attr(&a.s, fiber, NULL);
    EXPECT(f && filch_fiber_join(f, NULL) == 0);
    filch_wait_group_add(&g, 1);
    EXPECT(filch_go_attr(&a.s, detached, &g) == 0);
    filch_wait_group_wait(&g);
}

static void use_stats(void)
{
    unsigned n = 0;

    WITH_BYTES_BEHIND(filch_stats, s);
    WITH_BYTES_BEHIND(filch_counters, c);
#ifdef MORE
    s.s.more = c.s.more = 1;
#endif
    EXPECT(filch_stats_get(&s.s) == 0);
    EXPECT(s.s.workers == 3);
    EXPECT(memcmp(s.behind, behind, sizeof behind) == 0);
    EXPECT(filch_stats_worker(0, &c.s) == 0);
    EXPECT(memcmp(c.behind, behind, sizeof behind) == 0);
    while (filch_counter_name(n))
        n++;
#ifdef MORE
    EXPECT(n == sizeof c.s / sizeof c.s.spawned - 1);
    EXPECT(s.s.more == 0 && c.s.more == 0);
#else
    EXPECT(n == sizeof c.s / sizeof c.s.spawned + 1);
    EXPECT(filch_counter_value(&c.s, n - 1) == 0);
#endif
}

int main(void)
{
    memset(behind, 0x55, sizeof behind);
    use_allocator();
    use_deque();
    use_config();
    use_attr();
    use_stats();
    return filch_stop() == 0 ? 0 : 1;
}
