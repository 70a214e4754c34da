/* cluster_hurt MODE FILE READY TOKEN: a job whose processes are killed, stopped or observed.
 *
 *     endless   a run that does not end
 *     gate      a run whose items wait until the first byte of FILE is not 0
 *     between   ranks that do not make a run: they wait until the byte is not 0
 *     late      as gate, but one rank also waits before it starts the cluster
 *     idle      a run with one item, on rank 0, which waits until the byte is not 0
 *
 * Each rank writes a line "RANK PID" to READY when it processes its first item, or before it
 * waits. */
#include "cluster_helpers.h"

#include <filch/time.h>
#include <time.h>

enum { ITEMS = 3000 };

typedef struct shared_words {
    atomic_uchar is_open;
    atomic_uchar has_late; /* one rank waits before it starts the cluster */
} shared_words;

static shared_words *shared;
static const char *ready_path;

static void ready_write(void)
{
    char line[64];
    int fd = open(ready_path, O_WRONLY | O_APPEND | O_CLOEXEC);
    int n = snprintf(line, sizeof line, "%u %d\n", filch_cluster_rank(), (int)getpid());

    CHECK(fd >= 0 && write(fd, line, (size_t)n) == n);
    close(fd);
}

static void ready_write_once(void)
{
    static atomic_flag is_written = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&is_written))
        ready_write();
}

static int endless_body(uint64_t lo, uint64_t hi, void *ctx)
{
    (void)lo;
    (void)hi;
    (void)ctx;
    ready_write_once();
    return filch_sleep(5000000);
}

static int gate_map(uint64_t lo, uint64_t hi, void *acc, void *ctx)
{
    (void)ctx;
    ready_write_once();
    while (atomic_load(&shared->is_open) == 0)
        CHECK_INT(filch_sleep(1000000), 0);
    for (uint64_t i = lo; i < hi; i++)
        *(uint64_t *)acc += mix(i);
    return 0;
}

static void hash_combine(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(uint64_t *)acc += *(const uint64_t *)other;
}

static void gate_check(void)
{
    uint64_t hash = 0, expected = 0;

    CHECK_INT(filch_cluster_reduce(0, ITEMS, 1, &hash, sizeof hash, gate_map, hash_combine, NULL),
              0);
    for (uint64_t i = 0; i < ITEMS; i++)
        expected += mix(i);
    CHECK_INT(hash, expected);
    if (filch_cluster_rank() == 0)
        puts("the result is right");
}

static int idle_handle(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    (void)pool;
    (void)item;
    (void)size;
    (void)ctx;
    return gate_map(1, 2, acc, NULL);
}

static void idle_check(void)
{
    static const filch_pool_type type = {.item_size = 1,
                                         .handle = idle_handle,
                                         .acc_size = sizeof(uint64_t),
                                         .combine = hash_combine};
    uint64_t hash = 0;

    ready_write_once();
    CHECK_INT(filch_cluster_pool(&type, "x", filch_cluster_rank() == 0, &hash, NULL), 0);
    CHECK_INT(hash, mix(1));
}

static void open_await(void)
{
    while (atomic_load(&shared->is_open) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void between_wait(void)
{
    ready_write();
    open_await();
}

static void late_wait(void)
{
    ready_write_once();
    if (atomic_exchange(&shared->has_late, 1) == 0)
        open_await();
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    shared = share_words(argv[2], sizeof *shared);
    ready_path = argv[3];
    if (strcmp(argv[1], "late") == 0)
        late_wait();
    CHECK_INT(filch_cluster_start(NULL), 0);
    if (strcmp(argv[1], "endless") == 0)
        (void)filch_cluster_for(0, UINT64_C(1) << 40, 1, endless_body, NULL);
    else if (strcmp(argv[1], "between") == 0)
        between_wait();
    else if (strcmp(argv[1], "idle") == 0)
        idle_check();
    else
        gate_check();
    CHECK_INT(filch_cluster_stop(), 0);
    return 0;
}
