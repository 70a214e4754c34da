/* Read the runtime of another process, while it runs and without its cooperation.
 *
 * An ELF note of the library leads to a table of offsets (src/debug/layout.c), and
 * process_vm_readv(2) reads the structures.  The process is not stopped and not written to, so
 * values may be of different times.
 *
 * If root reads, the process may belong to another user, and its memory may have any content.  So
 * every number that is used as a size or an index is checked here. */
#ifndef CLI_REMOTE_H
#define CLI_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The names of the table. */
#define REMOTE_LAYOUT(X)                                                                           \
    X(runtime)                                                                                     \
    X(runtime_workers)                                                                             \
    X(runtime_n_workers)                                                                           \
    X(runtime_fork_child)                                                                          \
    X(runtime_poller)                                                                              \
    X(runtime_global)                                                                              \
    X(runtime_high)                                                                                \
    X(runtime_low)                                                                                 \
    X(runtime_stack_pool)                                                                          \
    X(runtime_sized_pools)                                                                         \
    X(n_sized_pools)                                                                               \
    X(poller_name)                                                                                 \
    X(pool_size)                                                                                   \
    X(pool_slabs)                                                                                  \
    X(slab_next)                                                                                   \
    X(slab_stacks)                                                                                 \
    X(slab_fresh)                                                                                  \
    X(stack_size)                                                                                  \
    X(stack_low)                                                                                   \
    X(stack_bytes)                                                                                 \
    X(stack_in_use)                                                                                \
    X(worker_size)                                                                                 \
    X(worker_current)                                                                              \
    X(worker_leaving)                                                                              \
    X(worker_deque)                                                                                \
    X(worker_ready)                                                                                \
    X(worker_inbox)                                                                                \
    X(worker_sleeper)                                                                              \
    X(worker_steals_single)                                                                        \
    X(worker_steals_multiple)                                                                      \
    X(worker_steals_failed)                                                                        \
    X(worker_parks)                                                                                \
    X(worker_sleeps)                                                                               \
    X(worker_jobs_ended)                                                                           \
    X(worker_starts_ended)                                                                         \
    X(sleeper_asleep)                                                                              \
    X(sleeper_lent)                                                                                \
    X(deque_ops)                                                                                   \
    X(deque_ops_bottom)                                                                            \
    X(deque_ops_top)                                                                               \
    X(fiber_size)                                                                                  \
    X(fiber_busy)                                                                                  \
    X(fiber_waiting)                                                                               \
    X(fiber_name)                                                                                  \
    X(fiber_body)                                                                                  \
    X(fiber_bound)                                                                                 \
    X(fiber_registers)                                                                             \
    X(waiter_size)                                                                                 \
    X(waiter_kind)                                                                                 \
    X(waiter_object)                                                                               \
    X(waiter_since)                                                                                \
    X(waiter_waitq)                                                                                \
    X(waiter_try_remove)                                                                           \
    X(waiter_winner)                                                                               \
    X(multi_try_remove)

typedef struct remote_layout {
#define REMOTE_FIELD(name) uint64_t name;
    REMOTE_LAYOUT(REMOTE_FIELD)
#undef REMOTE_FIELD
} remote_layout;

enum { REMOTE_WORKERS_MAX = 1024, REMOTE_TEXT = 32, REMOTE_REGISTERS = 4, REMOTE_BATCH = 128 };

typedef struct remote {
    pid_t pid;
    remote_layout at;
    uint64_t runtime; /* its address */
    uint64_t workers; /* the address of the first */
    unsigned n_workers;
    unsigned char *worker_bytes;  /* the workers, as they were last read */
    bool (*is_interrupted)(void); /* ends remote_foreach_fiber early; NULL: never */
} remote;

/* A fiber that has work. */
typedef struct remote_fiber {
    uint64_t address;
    uint64_t body;  /* its function; 0: none */
    int worker;     /* that runs it; -1: none */
    uint32_t bound; /* index of the only worker that may run it, plus 1; 0: any */
    bool waits;     /* then these describe its wait */
    bool is_woken;  /* the wait has ended, and the fiber only has to be run */
    uint64_t waiter;
    char kind[REMOTE_TEXT];
    uint64_t object;
    int64_t since_ns; /* of CLOCK_MONOTONIC */
    char name[REMOTE_TEXT];
    uint64_t registers[REMOTE_REGISTERS]; /* where it parked: sp, pc, frame pointer, and a callee-
                                             saved register */
} remote_fiber;

/* 1: a runtime of Filch runs in the process; 0: none does; -errno: it cannot be examined. */
int remote_uses_filch(pid_t pid);

/* Find the runtime of a process.  Returns NULL, or why there is none that can be read. */
const char *remote_open(remote *r, pid_t pid);

/* The same, with the table at this address. */
const char *remote_open_at(remote *r, pid_t pid, uint64_t table);
void remote_close(remote *r);

/* True: the process has ended, or has stopped this runtime. */
bool remote_is_over(const remote *r);

/* Read memory.  False: not all of it is mapped, or the process has ended. */
bool remote_read(const remote *r, uint64_t from, void *to, size_t size);
uint64_t remote_u64(const remote *r, uint64_t from);

/* Read n parts of this size, at most REMOTE_BATCH, with few system calls.  Part i goes to
 * to + i * size.  is_read[i]: it was read. */
void remote_read_many(const remote *r, const uint64_t *from, unsigned n, void *to, size_t size,
                      bool *is_read);
void remote_string(const remote *r, uint64_t from, char *text, size_t size);

/* Read all workers.  False: the runtime is gone. */
bool remote_read_workers(remote *r);

/* Fields of a worker, as it was last read. */
uint64_t remote_worker_u64(const remote *r, unsigned worker, uint64_t offset);
uint32_t remote_worker_u32(const remote *r, unsigned worker, uint64_t offset);

/* The object of a wait as text: a number for descriptors, signals and processes, else an address.
 * Returns text. */
const char *remote_object_text(uint64_t object, char text[REMOTE_TEXT]);

/* The name of a fiber. */
void remote_fiber_name(const remote *r, uint64_t fiber, char name[REMOTE_TEXT]);

/* Visit all fibers that have work.  Reads the workers.  False: the runtime is gone. */
bool remote_foreach_fiber(remote *r, void (*visit)(const remote_fiber *f, void *ctx), void *ctx);

/* The name of the program. */
void remote_program(pid_t pid, char *name, size_t size);

#endif
