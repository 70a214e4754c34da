/* Work stealing over the processes of an MPI job.
 *
 *     #include <filch/cluster.h>
 *     #include <stdio.h>
 *
 *     static int add(uint64_t lo, uint64_t hi, void *acc, void *ctx)
 *     {
 *         (void)ctx;
 *         for (uint64_t i = lo; i < hi; i++)
 *             *(uint64_t *)acc += i;
 *         return 0;
 *     }
 *     static void combine(void *acc, const void *other, void *ctx)
 *     {
 *         (void)ctx;
 *         *(uint64_t *)acc += *(const uint64_t *)other;
 *     }
 *     int main(void)
 *     {
 *         uint64_t sum = 0;
 *         int e = filch_cluster_start(NULL);
 *         if (e == 0)
 *             e = filch_cluster_reduce(0, 1000000, 0, &sum, sizeof sum, add, combine, NULL);
 *         if (e == 0 && filch_cluster_rank() == 0)
 *             printf("%llu\n", (unsigned long long)sum);
 *         return filch_cluster_stop() < 0 || e != 0;
 *     }
 *
 * Link with -lfilch-mpi -lfilch.  Started as ./program it is one process and uses no MPI.  Started
 * as mpirun -n 8 ./program it is eight processes, the ranks 0 to 7.  The library loads a plugin for
 * the MPI of the launcher.
 *
 * A run is a call of filch_cluster_for, _reduce, _pool or _run.  It is collective: all ranks make
 * the same runs in the same order, with the same kinds and sizes.  Otherwise the run returns
 * -EPROTO on all ranks.  A program makes one run at a time, from any thread or fiber.
 *
 * Work moves between ranks as bytes, so it must not contain pointers.  FILCH_CLUSTER_CHECK=1 also
 * moves it as bytes between the workers of one process, which shows such pointers.
 *
 * Functions of the program (body, map, handle, process) run on fibers, several at a time, and may
 * wait for anything that Filch can wait for.  A result that is not 0 ends the run on all ranks.
 * Work that has not begun is dropped, and the run returns that result everywhere.  If several
 * results are not 0, the run returns one of them.
 *
 * acc: the result of a run.  The caller sets it to the neutral element of combine.  At the end it
 * is the combined result, on every rank.  combine must be associative and commutative, and must not
 * wait.  The order of combinations differs from run to run, and so may the last bits of
 * floating-point sums.  Each part of the work that is in progress has its own copy of acc, so it
 * needs no lock.  A rank has up to in_flight copies.  After a run that returns an error, acc is not
 * specified.
 *
 * filch-cluster(7) and docs/cluster.md describe launchers, settings and failures. */
#ifndef FILCH_CLUSTER_H
#define FILCH_CLUSTER_H

#include <filch/version.h>

#include <stddef.h>
#include <stdint.h>

FILCH_BEGIN_DECLS

#define FILCH_CLUSTER_ACC_MAX  1048576 /* bytes of an accumulator */
#define FILCH_CLUSTER_ITEM_MAX 65536   /* bytes of an item of a pool */

/* What rank 0 knows about all ranks.  A value may be a second old. */
typedef struct filch_progress {
    uint64_t items; /* processed in this run; an estimate for filch_cluster_run */
    double seconds; /* since the run began */
    unsigned ranks;
    unsigned busy;             /* ranks with work */
    int64_t oldest_silence_ns; /* the longest time for which a rank has not been heard of */
} filch_progress;

/* Settings.  A field that is zero or NULL is taken from its environment variable, and otherwise has
 * its default.  A wrong variable is named by a message and ignored, unless FILCH_STRICT is 1.  An
 * unknown FILCH_CLUSTER is always an error. */
typedef struct filch_cluster_config {
    /* FILCH_CLUSTER: auto, one or mpi; default auto: mpi if a launcher started the process, and one
     * otherwise */
    const char *transport FILCH_ZERO_;
    /* FILCH_CLUSTER_LOOT: bytes of work that one steal moves; 1k to 1g, default 32k.  A single item
     * may be larger.  The variable may end in k, m or g */
    size_t loot_bytes FILCH_ZERO_;
    /* FILCH_CLUSTER_IN_FLIGHT: items that a rank processes at once, up to 65536; default the number
     * of its workers.  A program whose items wait sets more */
    unsigned in_flight FILCH_ZERO_;
    /* FILCH_CLUSTER_TRIES: random ranks that are asked before the lifelines, up to 64; default 2 */
    unsigned random_tries FILCH_ZERO_;
    /* FILCH_CLUSTER_SILENCE_MS (milliseconds): a rank that is silent for this time is dead, and the
     * job ends; 4 s to 1 day, default 10 s; negative (0 in the environment): never */
    int64_t silence_ns FILCH_ZERO_;
    /* FILCH_CLUSTER_PROGRESS_MS (milliseconds): the interval of reports on rank 0; default 0:
     * none */
    int64_t progress_ns FILCH_ZERO_;
    /* Called on rank 0 with each report, in a thread of the library; NULL: a line on stderr.  It
     * must not wait */
    void (*progress)(const filch_progress *now, void *ctx) FILCH_ZERO_;
    void *progress_ctx FILCH_ZERO_;
    /* The address of an MPI_Comm, for a program that has called MPI_Init_thread itself, with
     * MPI_THREAD_MULTIPLE.  NULL: MPI_COMM_WORLD */
    const void *mpi_comm FILCH_ZERO_;
} filch_cluster_config;

/* The inline function passes the size of the struct that the program was compiled with. */
FILCH_API int filch_cluster_start_(const filch_cluster_config *config, size_t size);

/* Join the job: start the transport, and the runtime as filch_start does.  All ranks call it.
 * Ranks that may use the same CPUs share them: each of n such ranks has filch_cpu_count() / n
 * workers, at least one.  FILCH_WORKERS sets another number.
 * From this call to filch_cluster_stop, exit() ends all ranks with status 1.
 * config: NULL means a config of zeros.
 * Call from: any thread, not from a fiber.  Blocks: the thread, until all ranks have called it.
 * Returns: 0.
 *     -EALREADY: it was called before, without filch_cluster_stop.
 *     -EINVAL: a field of config is wrong, or FILCH_CLUSTER, or another variable with
 *         FILCH_STRICT=1, or transport mpi without a launcher.  Or the process is the child of a
 *         fork() of a rank.
 *     -ENOENT: a launcher started the process, but the plugin for its MPI cannot be loaded.
 *     -EPROTO: the launcher and the plugin are of different MPI libraries.
 *     Other errors are those of filch_start and of MPI.  A message names the cause. */
static inline int filch_cluster_start(const filch_cluster_config *config)
{
    return filch_cluster_start_(config, sizeof *config);
}

/* Leave the job: release the runtime as filch_stop does, merge the traces of all ranks
 * (FILCH_TRACE) and print their counters (FILCH_STATS).  All ranks call it.  MPI cannot be started
 * again in the same process.
 * Call from: any thread, not from a fiber.  Blocks: the thread, until all ranks have called it.
 * Returns: 0.
 *     -EINVAL: filch_cluster_start has not been called, or has failed.
 *     -EBUSY: a run is in progress. */
FILCH_API int filch_cluster_stop(void);

/* Get the number of this process, from 0 on, and the number of all processes.
 * Call from: any thread or fiber, between start and stop.  Blocks: nothing.
 * Returns: the number; before start and after stop: rank 0 of 1. */
FILCH_API unsigned filch_cluster_rank(void);
FILCH_API unsigned filch_cluster_ranks(void);

/* ---- ranges ---- */

/* Call body for parts of the range from lo up to, but not including, hi, on all ranks.  Each number
 * is in exactly one part.  Each rank begins with an equal share, and ranks without work steal.
 * grain: the maximum number of elements per call; 0 lets Filch choose.
 * Call from: any thread or fiber, not from work of a run.  Blocks: the fiber or the thread.
 * Returns: 0; the result of a body that was not 0.
 *     -EINVAL: body is NULL, or the cluster has not been started.  This rank has not taken part in
 *         the run, and the other ranks wait for it.
 *     -EBUSY: another run of this process is in progress.  The same applies.
 *     -EPROTO: another rank makes another call.
 *     -ENOMEM: there is no memory on some rank. */
FILCH_API int filch_cluster_for(uint64_t lo, uint64_t hi, uint64_t grain,
                                int (*body)(uint64_t lo, uint64_t hi, void *ctx), void *ctx);

/* Call map for parts of the range, as filch_cluster_for does, and combine the results.
 * acc, size: the result, at most FILCH_CLUSTER_ACC_MAX bytes, without pointers.
 * map: adds the result of its part to *acc.
 * combine: adds *other to *acc.
 * Call from: any thread or fiber, not from work of a run.  Blocks: the fiber or the thread.
 * Returns: as filch_cluster_for.
 *     -EINVAL: also if map is NULL, if size is too large, or if size is not 0 and combine or acc is
 *         NULL. */
FILCH_API int filch_cluster_reduce(uint64_t lo, uint64_t hi, uint64_t grain, void *acc, size_t size,
                                   int (*map)(uint64_t lo, uint64_t hi, void *acc, void *ctx),
                                   void (*combine)(void *acc, const void *other, void *ctx),
                                   void *ctx);

/* ---- pools of items ---- */

typedef struct filch_pool filch_pool;

typedef struct filch_pool_type {
    /* Bytes of each item.  0: items have different sizes, up to FILCH_CLUSTER_ITEM_MAX */
    size_t item_size FILCH_ZERO_;
    /* Process an item.  It may push more.  item is aligned to 16 bytes and valid during the call.
     * acc: the result so far, or NULL if acc_size is 0.  Result: 0, or what ends the run */
    int (*handle)(filch_pool *pool, const void *item, size_t size, void *acc,
                  void *ctx) FILCH_ZERO_;
    size_t acc_size FILCH_ZERO_;
    void (*combine)(void *acc, const void *other, void *ctx) FILCH_ZERO_;
} filch_pool_type;

/* An item of a pool whose items have different sizes. */
typedef struct filch_item {
    const void *data;
    size_t size;
} filch_item;

/* Add an item to a pool.  It is copied.  Items are processed in any order, usually the newer ones
 * first.
 * Call from: the handle function that got the pool.  Blocks: nothing.
 * Returns: 0.
 *     -EINVAL: size differs from item_size, or item is NULL and size is not 0.
 *     -EMSGSIZE: the item is larger than FILCH_CLUSTER_ITEM_MAX.
 *     -ENOMEM: there is no memory. */
FILCH_API int filch_pool_push(filch_pool *pool, const void *item, size_t size);

/* Process items, and the items that their handlers push, until none is left on any rank.
 * items: n items of item_size bytes, one after the other.  If item_size is 0: n structs filch_item.
 * n: the number of items that this rank adds.  Ranks may add different numbers, also 0.
 * acc: the result, of acc_size bytes; NULL if that is 0.
 * Call from: any thread or fiber, not from work of a run.  Blocks: the fiber or the thread.
 * Returns: as filch_cluster_for.  If an item is wrong, all ranks return the error of
 * filch_pool_push. */
FILCH_API int filch_cluster_pool(const filch_pool_type *type, const void *items, size_t n,
                                 void *acc, void *ctx);

/* ---- bags ---- */

/* A bag is work in a form of the program's own, such as the frontier of a search.  A bag is used by
 * one thread at a time.  Several threads use different bags at the same time.  make, drop, unpack
 * and combine also run in the thread that handles messages, so they must not wait. */
typedef struct filch_bag_type {
    /* Create an empty bag; NULL: there is no memory */
    void *(*make)(void *ctx)FILCH_ZERO_;
    /* Free a bag, which may contain work */
    void (*drop)(void *bag, void *ctx) FILCH_ZERO_;
    /* Process up to n items.  Result: 1: there are more; 0: the bag is empty; negative: an error */
    int (*process)(void *bag, size_t n, void *acc, void *ctx) FILCH_ZERO_;
    /* Move about half of the work into a new bag; NULL: there is too little work, or no memory */
    void *(*split)(void *bag, void *ctx)FILCH_ZERO_;
    /* Move all work of other into bag, and free other */
    void (*merge)(void *bag, void *other, void *ctx) FILCH_ZERO_;
    /* Write the work of a bag to `to`, if capacity is large enough.  Result: the number of bytes,
     * the same each time for the same bag */
    size_t (*pack)(const void *bag, void *to, size_t capacity, void *ctx) FILCH_ZERO_;
    /* Add packed work to a bag.  Result: 0 or -errno, which ends the run */
    int (*unpack)(void *bag, const void *from, size_t size, void *ctx) FILCH_ZERO_;
    size_t acc_size FILCH_ZERO_;
    void (*combine)(void *acc, const void *other, void *ctx) FILCH_ZERO_;
} filch_bag_type;

/* Process bags until no work is left on any rank.
 * bag: this rank's work.  The call frees it, also if it fails, unless type is NULL or lacks a
 *     function.  NULL: this rank has no work.
 * acc: the result, of acc_size bytes; NULL if that is 0.
 * Call from: any thread or fiber, not from work of a run.  Blocks: the fiber or the thread.
 * Returns: as filch_cluster_for; the negative result of process or unpack.
 *     -EINVAL: also if two calls of pack return different sizes for the same bag.
 *     -EMSGSIZE: a part that split has made takes 2 GiB or more when it is packed. */
FILCH_API int filch_cluster_run(const filch_bag_type *type, void *bag, void *acc, void *ctx);

FILCH_END_DECLS

#endif
