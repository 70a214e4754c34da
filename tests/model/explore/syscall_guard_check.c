/* A descriptor is not closed during a system call on it, and no system call begins while it is
 * being closed.
 *
 * Two files.  Owner: X, Y close the first, the second.  Thief: A, B make a system call on the
 * first, the second, unless it is being closed. */
#include "explore/kind.h"

#include "base/biased_lock.h"
#include "io/syscall_guard.h"

enum { FILES = 2 };

static struct {
    fi_biased_lock lock;
    bool closing;
} file[FILES];
static fi_syscall_guard syscall_guard[MAX_THREADS];

static void setup(void)
{
    static const char *const words[] = {"lock 0", "lock 1"};
    static const char *const biases[] = {"bias 0", "bias 1"};
    static const char *const guard_names[MAX_THREADS] = {"", "call 1", "call 2", "call 3",
                                                         "call 4"};
    for (int i = 0; i < FILES; i++) {
        file[i].lock = (fi_biased_lock){0};
        file[i].closing = false;
        x_init(&file[i].lock.word, 0, words[i]);
        x_init(&file[i].lock.bias, 0, biases[i]);
    }
    for (int i = 1; i < program_threads(); i++)
        x_init(&syscall_guard[i], 0, guard_names[i]);
}

static void lock_file(int which, uint64_t position)
{
    fi_biased_lock_lock_slow(&file[which].lock, FI_LOCK_ID_NONE);
    x_forget(position);
}

static void unlock_file(int which)
{
    fi_biased_lock_unlock(&file[which].lock, FI_LOCK_ID_NONE);
}

/* As op_begin and op_try in io/op.c. */
static void make_call(int thread, int which, uint64_t position)
{
    bool closing;
    x_say("call on file %d", which);
    lock_file(which, position + 1);
    closing = file[which].closing;
    if (!closing)
        fi_syscall_guard_enter(&syscall_guard[thread], &file[which]);
    unlock_file(which);
    if (closing)
        return;
    x_data_read(which);
    fi_syscall_guard_leave(&syscall_guard[thread]);
}

/* As fi_fd_begin_close in io/fd.c. */
static void close_file(int which, uint64_t position)
{
    x_say("close file %d", which);
    lock_file(which, position + 1);
    file[which].closing = true;
    unlock_file(which);
    for (int i = 1; i < program_threads(); i++)
        for (x_forget(position + 2); fi_syscall_guard_protects(&syscall_guard[i], &file[which]);)
            fi_thread_yield();
    x_say("it is closed");
    x_data_write(which);
}

static void operate(const operation *op)
{
    if (op->thread == 0)
        close_file(op->letter - 'X', op->position);
    else
        make_call(op->thread, op->letter - 'A', op->position);
}

static uint64_t summary(void)
{
    uint64_t h = 0;
    for (int i = 0; i < FILES; i++)
        h = h << 3 | (uint64_t)file[i].closing << 1 | file[i].lock.slow;
    return h;
}

static const char *value_name(uint64_t value)
{
    for (int i = 0; i < FILES; i++)
        if (value == X_BITS(&file[i]))
            return i ? "file 1" : "file 0";
    return NULL;
}

static const program programs[] = {
    {0, 0, "X", {"A"}},       {0, 0, "X", {"AB"}},      {0, 0, "X", {"ABA"}}, {0, 0, "XY", {"BA"}},
    {0, 0, "X", {"A", "AB"}}, {0, 0, "XY", {"A", "B"}}, {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("begins the next call relaxed", "syscall_guard.enter", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("ends a call relaxed", "syscall_guard.leave", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("checks relaxed whether a call has ended", "syscall_guard.read", ORDER_RELAXED, RACE,
           RACE, RACE),
    {.what = NULL},
};

const kind syscall_guard_kind = {
    .name = "syscall_guard",
    .owner = "XY",
    .thief = "AB",
    .programs = programs,
    .mutants = mutants,
    .threads = OWNER_AND("closer", "worker"),
    .data = NUMBERED("file"),
    .races = true,
    .setup = setup,
    .operate = operate,
    .summary = summary,
    .value_name = value_name,
};
