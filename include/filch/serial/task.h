/* The tasks of a serial build (FILCH_SERIAL): plain functions.  <filch/task.h> includes this file.
 *
 * A spawn calls its task at once and stores the result for the sync.  The open results of a body
 * are hidden arguments of the body, so they need no storage that outlives it:
 *
 *     filch_open_      number of open spawns with a result
 *     filch_newest_    the result, if it fits and no other spawn is open
 *     filch_results_   a stack on the heap for other results; NULL while it is empty
 *     filch_n_spawns_  in checked files: the caller's counter of open spawns, or NULL
 *
 * All callers pass zeros.  The compiler therefore removes what a body does not use: fib becomes the
 * plain recursive function. */
#ifndef FILCH_SERIAL_TASK_H
#define FILCH_SERIAL_TASK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the stack of results ---- */

typedef struct filch_result_stack_ {
    size_t used, capacity; /* bytes after this head */
} filch_result_stack_;

/* Lies on the stack after its result. */
typedef struct filch_result_end_ {
    const char *task;
    size_t size;
} filch_result_end_;

__attribute__((noreturn, noinline, unused)) static void
filch_serial_abort_(const char *what, const char *name, const char *why, const char *more)
{
    fprintf(stderr, "filch: %s%s%s%s\n", what, name, why, more);
    abort();
}

FILCH_INLINE_ size_t filch_result_space_(size_t size)
{
    return (size + 15) / 16 * 16 + sizeof(filch_result_end_);
}

/* Make space for `bytes` more.  Returns: the stack, which may have moved. */
__attribute__((noinline, unused)) static filch_result_stack_ *
filch_results_grow_(filch_result_stack_ *stack, size_t bytes)
{
    size_t used = stack ? stack->used : 0;
    size_t capacity = 2 * used + bytes + 64;
    filch_result_stack_ *grown = (filch_result_stack_ *)realloc(stack, sizeof *grown + capacity);

    if (!grown)
        filch_serial_abort_("FILCH_SPAWN", "", ": there is no memory for its result", "");
    grown->used = used;
    grown->capacity = capacity;
    return grown;
}

__attribute__((noinline, unused)) static filch_result_stack_ *
filch_results_push_(filch_result_stack_ *stack, const char *task, const void *from, size_t size)
{
    size_t bytes = filch_result_space_(size);
    filch_result_end_ end = {task, size};
    char *at;

    if (!stack || stack->capacity - stack->used < bytes)
        stack = filch_results_grow_(stack, bytes);
    at = (char *)(stack + 1) + stack->used;
    if (size > 0)
        memcpy(at, from, size);
    memcpy(at + bytes - sizeof end, &end, sizeof end);
    stack->used += bytes;
    return stack;
}

/* Returns: the stack; NULL if it is empty now. */
__attribute__((noinline, unused)) static filch_result_stack_ *
filch_results_pop_(filch_result_stack_ *stack, const char *task, void *to, size_t size)
{
    filch_result_end_ end;
    char *at;

    if (!stack)
        filch_serial_abort_("FILCH_SYNC(", task, "): there is no open FILCH_SPAWN", "");
    at = (char *)(stack + 1) + stack->used;
    memcpy(&end, at - sizeof end, sizeof end);
    if (strcmp(end.task, task) != 0 || end.size != size)
        filch_serial_abort_("FILCH_SYNC(", task, "): the newest FILCH_SPAWN is of ", end.task);
    stack->used -= filch_result_space_(size);
    if (size > 0)
        memcpy(to, (char *)(stack + 1) + stack->used, size);
    if (stack->used > 0)
        return stack;
    free(stack);
    return NULL;
}

FILCH_INLINE_ void filch_serial_check_(const char *task, long open)
{
    char number[64];

    if (open == 0)
        return;
    snprintf(number, sizeof number, " (%ld missing)", open);
    filch_serial_abort_("task ", task, ": returned without a FILCH_SYNC for each FILCH_SPAWN",
                        number);
}

/* ---- the macros ---- */

#define FILCH_HIDDEN_PARAMS_                                                                       \
    unsigned long filch_open_ FILCH_UNUSED_, filch_result_stack_ *filch_results_ FILCH_UNUSED_,    \
        unsigned long long filch_newest_ FILCH_UNUSED_, long *filch_n_spawns_ FILCH_UNUSED_
#define FILCH_HIDDEN_REFS_                                                                         \
    unsigned long *filch_o_ FILCH_UNUSED_, struct filch_result_stack_ **filch_s_ FILCH_UNUSED_,    \
        unsigned long long *filch_w_ FILCH_UNUSED_, long *filch_c_ FILCH_UNUSED_
#define FILCH_HIDDEN_ &filch_open_, &filch_results_, &filch_newest_, filch_n_spawns_

#define FILCH_FITS_(filch_o_, R)                                                                   \
    (!FILCH_CHECKED_ && (filch_o_) == 0 && sizeof(R) <= sizeof(unsigned long long))
#define FILCH_COUNT_SPAWN_(n)                                                                      \
    if (FILCH_CHECKED_ && filch_c_)                                                                \
    *filch_c_ += (n)

#define FILCH_VALUE_PUSH_(R, name, call)                                                           \
    R filch_r_ = call;                                                                             \
    FILCH_COUNT_SPAWN_(1);                                                                         \
    if (FILCH_FITS_(*filch_o_, R))                                                                 \
        memcpy(filch_w_, &filch_r_, sizeof(R) <= sizeof *filch_w_ ? sizeof(R) : 0);                \
    else                                                                                           \
        *filch_s_ = filch_results_push_(*filch_s_, #name, &filch_r_, sizeof(R));                   \
    ++*filch_o_
#define FILCH_VALUE_POP_(R, name)                                                                  \
    char filch_bytes_[sizeof(R)] __attribute__((aligned(16)));                                     \
    FILCH_COUNT_SPAWN_(-1);                                                                        \
    --*filch_o_;                                                                                   \
    if (FILCH_FITS_(*filch_o_, R))                                                                 \
        memcpy(filch_bytes_, filch_w_, sizeof(R) <= sizeof *filch_w_ ? sizeof(R) : 0);             \
    else                                                                                           \
        *filch_s_ = filch_results_pop_(*filch_s_, #name, filch_bytes_, sizeof(R));                 \
    return *(R *)(void *)filch_bytes_
#define FILCH_VOID_PUSH_(R, name, call)                                                            \
    call;                                                                                          \
    FILCH_COUNT_SPAWN_(1);                                                                         \
    if (FILCH_CHECKED_)                                                                            \
    *filch_s_ = filch_results_push_(*filch_s_, #name, NULL, 0)
#define FILCH_VOID_POP_(R, name)                                                                   \
    FILCH_COUNT_SPAWN_(-1);                                                                        \
    if (FILCH_CHECKED_)                                                                            \
    *filch_s_ = filch_results_pop_(*filch_s_, #name, NULL, 0)

/* The body has another name than in a build with the library, so that objects of both do not
 * link. */
#define FILCH_HEAD_OF_(L, R, name, MAP, ...)                                                       \
    L R filch_of_##name##_serial_(FILCH_HIDDEN_PARAMS_ MAP(FILCH_PARAM_, __VA_ARGS__))             \
        FILCH_NOEXCEPT_

#define FILCH_VERBS_OF_(K, R, name, MAP, ...)                                                      \
    FILCH_INLINE_ R filch_of_##name##_call_(                                                       \
        int filch_none_ FILCH_UNUSED_ MAP(FILCH_PARAM_, __VA_ARGS__))                              \
    {                                                                                              \
        long filch_count_ = 0;                                                                     \
        FILCH_##K##_KEEP_(                                                                         \
            FILCH_##K##_LOCAL_(R),                                                                 \
            filch_of_##name##_serial_(                                                             \
                0, NULL, 0, FILCH_CHECKED_ ? &filch_count_ : NULL MAP(FILCH_PASS_, __VA_ARGS__))); \
        if (FILCH_CHECKED_)                                                                        \
            filch_serial_check_(#name, filch_count_);                                              \
        FILCH_##K##_RETURN_(filch_result_);                                                        \
    }                                                                                              \
    FILCH_ALWAYS_INLINE_ void filch_of_##name##_spawn_(                                            \
        FILCH_HIDDEN_REFS_ MAP(FILCH_PARAM_, __VA_ARGS__))                                         \
    {                                                                                              \
        FILCH_##K##_PUSH_(R, name, filch_of_##name##_call_(0 MAP(FILCH_PASS_, __VA_ARGS__)));      \
    }                                                                                              \
    FILCH_ALWAYS_INLINE_ R filch_of_##name##_sync_(FILCH_HIDDEN_REFS_)                             \
    {                                                                                              \
        FILCH_##K##_POP_(R, name);                                                                 \
    }

#define FILCH_DECL_(K, R, name, MAP, ...)                                                          \
    FILCH_SLOT_OF_(K, R, name, MAP, __VA_ARGS__)                                                   \
    FILCH_HEAD_OF_(FILCH_C_, R, name, MAP, __VA_ARGS__);                                           \
    FILCH_VERBS_OF_(K, R, name, MAP, __VA_ARGS__)                                                  \
    FILCH_ASSERT_(1, "for the semicolon")
#define FILCH_IMPL_(K, R, name, ...) FILCH_HEAD_OF_(, R, name, __VA_ARGS__)
#define FILCH_BOTH_(K, R, name, MAP, ...)                                                          \
    FILCH_SLOT_OF_(K, R, name, MAP, __VA_ARGS__)                                                   \
    FILCH_HEAD_OF_(static, R, name, MAP, __VA_ARGS__);                                             \
    FILCH_VERBS_OF_(K, R, name, MAP, __VA_ARGS__)                                                  \
    FILCH_HEAD_OF_(static, R, name, MAP, __VA_ARGS__)

#define FILCH_SPAWN_ALONE_(name)     filch_of_##name##_spawn_(FILCH_HIDDEN_)
#define FILCH_SPAWN_WITH_(name, ...) filch_of_##name##_spawn_(FILCH_HIDDEN_, __VA_ARGS__)
#define FILCH_CALL_ALONE_(name)      filch_of_##name##_call_(0)
#define FILCH_CALL_WITH_(name, ...)  filch_of_##name##_call_(0, __VA_ARGS__)
#define FILCH_RUN_ALONE_(name)       filch_of_##name##_call_(0)
#define FILCH_RUN_WITH_(name, ...)   filch_of_##name##_call_(0, __VA_ARGS__)
#define FILCH_SYNC(name)             filch_of_##name##_sync_(FILCH_HIDDEN_)
#define FILCH_HUNGRY()               0

#endif
