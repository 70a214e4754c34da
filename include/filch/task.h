/* Fork-join tasks.  A spawn costs a few stores.  The sync of a task that was not stolen is a plain
 * call.
 *
 *     #include <filch/task.h>
 *     #include <stdio.h>
 *
 *     FILCH_TASK(long, fib, int, n)
 *     {
 *         if (n < 2)
 *             return n;
 *         FILCH_SPAWN(fib, n - 1);
 *         long b = FILCH_CALL(fib, n - 2);
 *         long a = FILCH_SYNC(fib);
 *         return a + b;
 *     }
 *     int main(void)
 *     {
 *         printf("%ld\n", FILCH_RUN(fib, 20));
 *         return 0;
 *     }
 *
 * FILCH_TASK(result, name, type, argument, ...) { body }
 *     Define a task with 0 to 8 arguments, for this file.  Arguments and result are copied as
 *     bytes (in C++: trivially copyable types), at most 1024 bytes in all, and may be structs.
 *     Types have no const.  In C++ no exception may leave the body.
 * FILCH_VOID_TASK(name, type, argument, ...) { body }
 *     Define a task without a result.
 * FILCH_TASK_DECL(result, name, type, argument, ...);  FILCH_VOID_TASK_DECL(name, ...);
 * FILCH_TASK_IMPL(result, name, type, argument, ...) { body }
 * FILCH_VOID_TASK_IMPL(name, ...) { body }
 *     Declare and define a task separately, for tasks that several files use (DECL in a header,
 *     IMPL in one file) and for tasks that call each other.
 *
 * In the body of a task:
 * FILCH_SPAWN(name, arguments...)
 *     Spawn a task.  It runs on another worker if it is stolen, and otherwise at its sync.  The
 *     body must not wait for the task in any other way than a sync, because the task may not
 *     start before.  Use filch_go or a job for a function that must run while the body waits.
 * FILCH_SYNC(name)
 *     Get the result of the newest spawn that is not yet synced, which must be of this name.  If
 *     another worker runs it, the fiber parks until it is done, and may continue on another worker.
 *     Do not use a thread-local variable, such as errno, before and after a sync in one function:
 *     the compiler may keep its address.
 * FILCH_CALL(name, arguments...)
 *     Call the task as a plain function.
 * FILCH_HUNGRY()
 *     True if an idle worker may be waiting for a spawn.  A loop that spawns a part of its work
 *     only when this is true has no overhead while all workers are busy.
 * Every spawn must be synced in the same body, the newest first.  A fiber can have up to 33 million
 * open spawns.
 *
 * Anywhere:
 * FILCH_RUN(name, arguments...)
 *     Run the task on the workers and get its result.  If a worker sleeps, the calling thread
 *     runs the task in its place.  The runtime is started if it is not running.  In a fiber this
 *     is a plain call.
 *     Call from: any thread, fiber, task or job.  Blocks: the thread.
 *
 * In files compiled without optimisation, or with FILCH_CHECK_TASKS defined, these errors abort the
 * program with a message: a sync of a task that is not the newest spawn, a sync without a spawn,
 * and a body that returns with an open spawn.  In other files they may go unnoticed.
 *
 * A program that is compiled with FILCH_SERIAL defined needs no library.  Tasks are then plain
 * functions that run when they are spawned, and so are the functions of <filch/algo.h> and the
 * groups of <filch/job.h>.  The compiler reports a call of any other function.  All files of the
 * program must be compiled in the same way.
 */
#ifndef FILCH_TASK_H
#define FILCH_TASK_H

#include <filch/version.h>

#include <stddef.h>

FILCH_BEGIN_DECLS

/* The rest of this header implements the macros.  Names that end in _ are private.
 *
 * Open spawns are slots on the task stack of their fiber.  `top` is the end of the newest slot.
 * It is a hidden argument of each body, so it stays in a register.  A spawn compares top with
 * limit, and a sync compares it with floor.  The runtime changes these words when it wants the
 * next spawn or sync to call it. */
typedef struct filch_task_bounds_ {
    char *limit;   /* atomic; a spawn that ends beyond it calls filch_slow_spawn_ */
    char *floor;   /* atomic; a sync of a slot below it calls filch_slow_sync_ */
    char pad_[48]; /* other workers write the words above, and the fiber those below */
    unsigned long spawned;
    long open; /* spawned and not yet synced; in checked files only */
} filch_task_bounds_;

typedef struct filch_task_type_ {
    /* Run the task in slot with the task stack from top on, and store the result in slot. */
    void (*run)(filch_task_bounds_ *bounds, char *top, void *slot);
    size_t size;
    const char *name;
    const char *abi; /* &filch_task_abi_1_ */
} filch_task_type_;

/* The head of each slot. */
typedef struct filch_slot_ {
    const filch_task_type_ *type;
    void *ticket; /* of a published task; before, in checked files, the frame that spawned it */
} filch_slot_;

#define FILCH_SLOT_MAX_ 1040 /* the head and 1024 bytes of arguments or result */

#ifndef FILCH_SERIAL
/* The marker of the layouts above and of what the inline code does with them.  A change gives it
 * another number.  Each task contains its address, so a program that was compiled with another
 * layout than that of the library is refused by the loader. */
FILCH_API extern const char filch_task_abi_1_;

/* The spawn at top ends beyond limit: extend the task stack, or publish tasks for hungry
 * workers. */
FILCH_API void filch_slow_spawn_(filch_task_bounds_ *bounds, char *top, size_t size);
/* The slot is below floor.  Returns 1: it contains the result; 0: the caller runs the task. */
FILCH_API int filch_slow_sync_(filch_task_bounds_ *bounds, char *slot,
                               const filch_task_type_ *type);
/* FILCH_RUN: run the task in slot. */
FILCH_API void filch_run_slot_(void *slot);
/* Abort the program if the newest spawn is another task, or if there is none. */
FILCH_API void filch_check_sync_(const filch_task_type_ *type, const filch_slot_ *slot,
                                 const void *frame);
/* Abort the program if the body of the task has left spawns open. */
FILCH_API void filch_check_open_(const filch_task_type_ *type, const filch_task_bounds_ *bounds,
                                 long before);
#endif

FILCH_END_DECLS

#if defined FILCH_CHECK_TASKS || !defined __OPTIMIZE__
#define FILCH_CHECKED_       1
#define FILCH_FRAME_(top)    (top)
#define FILCH_CALL_OF_(name) filch_of_##name##_call_
#else
#define FILCH_CHECKED_       0
#define FILCH_FRAME_(top)    0
/* The body itself, so that gcc sees several callers of a recursive body and splits it: the caller
 * then makes the test that ends the recursion.  gcc does not split always_inline functions. */
#define FILCH_CALL_OF_(name) filch_of_##name##_body_
#endif

#if FILCH_CHECKED_ || defined FILCH_COUNT_SPAWNS
#define FILCH_COUNTED_ 1
#else
#define FILCH_COUNTED_ 0
#endif

#if defined __has_feature
#define FILCH_HAS_TSAN_ __has_feature(thread_sanitizer)
#else
#define FILCH_HAS_TSAN_ 0
#endif

#define FILCH_UNLIKELY_(x) __builtin_expect(!!(x), 0)
/* Only such functions read or move the top of the caller.  The calls in one expression may come
 * in any order but do not overlap, so FILCH_CALL(f) + FILCH_SYNC(g) is allowed. */
#define FILCH_ALWAYS_INLINE_ static inline __attribute__((always_inline, unused))
#define FILCH_INLINE_        static inline __attribute__((unused))
#define FILCH_UNUSED_        __attribute__((unused))

#ifndef FILCH_SERIAL
/* Load a word that other threads write.  Compilers do not merge an atomic load into a comparison.
 * So the asm tells the compiler that the word may have changed, and a plain load follows.  Only
 * then does gcc find a body small enough to unroll the recursion. */
FILCH_ALWAYS_INLINE_ char *filch_load_word_(char **filch_word_)
{
#if defined __SANITIZE_THREAD__ || FILCH_HAS_TSAN_
    return __atomic_load_n(filch_word_, __ATOMIC_RELAXED);
#else
    __asm__ volatile("" : "+m"(*filch_word_));
    return *filch_word_;
#endif
}

/* clang prepares for the rare call of filch_slow_spawn_ at the start of the body, where it saves
 * registers.  This function changes none, so the test that ends a recursion needs no stack frame. */
#if defined __clang__ && defined __x86_64__
__attribute__((preserve_most, noinline, cold)) FILCH_UNUSED_ static void
filch_keep_spawn_(filch_task_bounds_ *filch_f_, char *filch_t_, size_t filch_size_)
{
    filch_slow_spawn_(filch_f_, filch_t_, filch_size_);
}
#define FILCH_SLOW_SPAWN_ filch_keep_spawn_
#else
#define FILCH_SLOW_SPAWN_ filch_slow_spawn_
#endif
#endif

#ifdef __cplusplus
#define FILCH_NOEXCEPT_        noexcept
#define FILCH_ASSERT_(x, text) static_assert(x, text)
#define FILCH_COPIES_(type)                                                                        \
    static_assert(__is_trivially_copyable(type), "arguments and result are copied as bytes");
#define FILCH_ALIGNOF_(type) alignof(type)
#define FILCH_C_             extern "C"
#else
#define FILCH_NOEXCEPT_
#define FILCH_ASSERT_(x, text) _Static_assert(x, text)
#define FILCH_COPIES_(type)
#define FILCH_ALIGNOF_(type) _Alignof(type)
#define FILCH_C_             extern
#endif

/* FILCH_MAP_n_(M, type, argument, ...) expands M(type, argument) for each of n pairs, and MNONE_
 * for n = 0. */
#define FILCH_MAP_0_(M, none)      M##NONE_
#define FILCH_MAP_1_(M, t, a)      M(t, a)
#define FILCH_MAP_2_(M, t, a, ...) M(t, a) FILCH_MAP_1_(M, __VA_ARGS__)
#define FILCH_MAP_3_(M, t, a, ...) M(t, a) FILCH_MAP_2_(M, __VA_ARGS__)
#define FILCH_MAP_4_(M, t, a, ...) M(t, a) FILCH_MAP_3_(M, __VA_ARGS__)
#define FILCH_MAP_5_(M, t, a, ...) M(t, a) FILCH_MAP_4_(M, __VA_ARGS__)
#define FILCH_MAP_6_(M, t, a, ...) M(t, a) FILCH_MAP_5_(M, __VA_ARGS__)
#define FILCH_MAP_7_(M, t, a, ...) M(t, a) FILCH_MAP_6_(M, __VA_ARGS__)
#define FILCH_MAP_8_(M, t, a, ...) M(t, a) FILCH_MAP_7_(M, __VA_ARGS__)

#define FILCH_PARAM_(t, a) , t a
#define FILCH_PARAM_NONE_
#define FILCH_PASS_(t, a) , a
#define FILCH_PASS_NONE_
#define FILCH_LOAD_(t, a) , filch_s_->u.args.a
#define FILCH_LOAD_NONE_
#define FILCH_STORE_(t, a) filch_s_->u.args.a = a;
#define FILCH_STORE_NONE_
#define FILCH_FIELD_(t, a) t a;
#define FILCH_FIELD_NONE_  char none;
#define FILCH_TYPES_(t, a) FILCH_COPIES_(t)
#define FILCH_TYPES_NONE_

/* The differences between a task with a result (VALUE) and one without (VOID). */
#define FILCH_VALUE_FIELD_(R)       R result;
#define FILCH_VALUE_KEEP_(to, call) to = call
#define FILCH_VALUE_LOCAL_(R)       R filch_result_
#define FILCH_VALUE_RETURN_(x)      return x
#define FILCH_VALUE_FORWARD_(call)  return call
#define FILCH_VALUE_TYPE_(R)        FILCH_COPIES_(R)
#define FILCH_VOID_FIELD_(R)
#define FILCH_VOID_KEEP_(to, call) call
#define FILCH_VOID_LOCAL_(R)
#define FILCH_VOID_RETURN_(x)     return
#define FILCH_VOID_FORWARD_(call) call
#define FILCH_VOID_TYPE_(R)

/* The slot of a task.  K is VALUE or VOID. */
#define FILCH_SLOT_OF_(K, R, name, MAP, ...)                                                       \
    FILCH_##K##_TYPE_(R) MAP(FILCH_TYPES_, __VA_ARGS__) struct filch_of_##name##_args_ {           \
        MAP(FILCH_FIELD_, __VA_ARGS__)                                                             \
    };                                                                                             \
    struct __attribute__((aligned(16))) filch_of_##name##_slot_ {                                  \
        filch_slot_ head;                                                                          \
        union {                                                                                    \
            struct filch_of_##name##_args_ args;                                                   \
            FILCH_##K##_FIELD_(R)                                                                  \
        } u;                                                                                       \
    };                                                                                             \
    FILCH_ASSERT_(FILCH_ALIGNOF_(struct filch_of_##name##_slot_) == 16,                            \
                  "task " #name ": an argument or the result is aligned to more than 16 bytes");   \
    FILCH_ASSERT_(sizeof(struct filch_of_##name##_slot_) <= FILCH_SLOT_MAX_,                       \
                  "task " #name ": more than 1024 bytes of arguments or result; pass a pointer");

#ifdef FILCH_SERIAL
#include <filch/serial/task.h>
#else

/* The prototype of the body of a task.  L is the linkage. */
#define FILCH_BODY_OF_(L, R, name, MAP, ...)                                                       \
    L R filch_of_##name##_body_(filch_task_bounds_ *filch_self_,                                   \
                                char *filch_top_ MAP(FILCH_PARAM_, __VA_ARGS__)) FILCH_NOEXCEPT_   \
        __attribute__((aligned(64)));

/* The hidden argument filch_level_ is 0 in body_ and 1 in step_ (see below).  Other code has no such
 * argument, and calls body_. */
enum { filch_level_ = 1 };

/* The function that a call or a sync calls. */
#define FILCH_NEXT_OF_(K, R, name, MAP, ...)                                                       \
    FILCH_INLINE_ R filch_of_##name##_call_(filch_task_bounds_ *filch_f_,                          \
                                            char *filch_t_ MAP(FILCH_PARAM_, __VA_ARGS__))         \
    {                                                                                              \
        long filch_before_ = FILCH_CHECKED_ ? filch_f_->open : 0;                                  \
        FILCH_##K##_KEEP_(                                                                         \
            FILCH_##K##_LOCAL_(R),                                                                 \
            filch_of_##name##_body_(filch_f_, filch_t_ MAP(FILCH_PASS_, __VA_ARGS__)));            \
        if (FILCH_CHECKED_)                                                                        \
            filch_check_open_(&filch_of_##name##_type_, filch_f_, filch_before_);                  \
        FILCH_##K##_RETURN_(filch_result_);                                                        \
    }                                                                                              \
    FILCH_ALWAYS_INLINE_ R filch_of_##name##_next_(                                                \
        filch_task_bounds_ *filch_f_, char *filch_t_,                                              \
        int filch_l_ FILCH_UNUSED_ MAP(FILCH_PARAM_, __VA_ARGS__))                                 \
    {                                                                                              \
        FILCH_##K##_FORWARD_(                                                                      \
            FILCH_CALL_OF_(name)(filch_f_, filch_t_ MAP(FILCH_PASS_, __VA_ARGS__)));               \
    }

/* clang does not inline a function into itself, so each recursive call of a small body would be a
 * call.  With clang the code of a body is therefore in two functions: body_ calls step_, and step_
 * calls body_.  If the body is small, clang inlines step_ into body_, which then has two levels of
 * the recursion. */
#if defined __clang__ && defined __OPTIMIZE__ && !defined __OPTIMIZE_SIZE__ && !FILCH_CHECKED_
#define FILCH_UNROLL_OF_(K, R, name, MAP, ...)                                                     \
    FILCH_ALWAYS_INLINE_ R filch_of_##name##_code_(                                                \
        filch_task_bounds_ *filch_self_, char *filch_top_,                                         \
        int filch_level_ MAP(FILCH_PARAM_, __VA_ARGS__)) FILCH_NOEXCEPT_;                          \
    __attribute__((noinline, unused)) static R filch_of_##name##_body_(                            \
        filch_task_bounds_ *filch_f_, char *filch_t_ MAP(FILCH_PARAM_, __VA_ARGS__))               \
        FILCH_NOEXCEPT_                                                                            \
    {                                                                                              \
        FILCH_##K##_FORWARD_(                                                                      \
            filch_of_##name##_code_(filch_f_, filch_t_, 0 MAP(FILCH_PASS_, __VA_ARGS__)));         \
    }                                                                                              \
    FILCH_INLINE_ R filch_of_##name##_step_(filch_task_bounds_ *filch_f_,                          \
                                            char *filch_t_ MAP(FILCH_PARAM_, __VA_ARGS__))         \
        FILCH_NOEXCEPT_                                                                            \
    {                                                                                              \
        FILCH_##K##_FORWARD_(                                                                      \
            filch_of_##name##_code_(filch_f_, filch_t_, 1 MAP(FILCH_PASS_, __VA_ARGS__)));         \
    }                                                                                              \
    FILCH_ALWAYS_INLINE_ R filch_of_##name##_next_(filch_task_bounds_ *filch_f_, char *filch_t_,   \
                                                   int filch_l_ MAP(FILCH_PARAM_, __VA_ARGS__))    \
    {                                                                                              \
        if (filch_l_) {                                                                            \
            FILCH_##K##_FORWARD_(                                                                  \
                filch_of_##name##_body_(filch_f_, filch_t_ MAP(FILCH_PASS_, __VA_ARGS__)));        \
        } else {                                                                                   \
            FILCH_##K##_FORWARD_(                                                                  \
                filch_of_##name##_step_(filch_f_, filch_t_ MAP(FILCH_PASS_, __VA_ARGS__)));        \
        }                                                                                          \
    }
#define FILCH_STATIC_OF_ FILCH_UNROLL_OF_
#define FILCH_STATIC_HEAD_OF_(R, name, MAP, ...)                                                   \
    static R filch_of_##name##_code_(                                                              \
        filch_task_bounds_ *filch_self_ FILCH_UNUSED_, char *filch_top_ FILCH_UNUSED_,             \
        int filch_level_ FILCH_UNUSED_ MAP(FILCH_PARAM_, __VA_ARGS__)) FILCH_NOEXCEPT_
#else
#define FILCH_STATIC_OF_              FILCH_NEXT_OF_
#define FILCH_STATIC_HEAD_OF_(R, ...) FILCH_HEAD_OF_(static, R, __VA_ARGS__)
#endif

/* Spawn, sync and run.  Their local names end in _, unlike those of arguments. */
#define FILCH_VERBS_OF_(K, R, name, MAP, ...)                                                      \
    FILCH_INLINE_ void filch_of_##name##_push_(filch_task_bounds_ *filch_f_, char *filch_t_,       \
                                               void *filch_frame_ MAP(FILCH_PARAM_, __VA_ARGS__))  \
    {                                                                                              \
        struct filch_of_##name##_slot_ *filch_s_ =                                                 \
            (struct filch_of_##name##_slot_ *)(void *)filch_t_;                                    \
        MAP(FILCH_STORE_, __VA_ARGS__)                                                             \
        filch_s_->head.type = &filch_of_##name##_type_;                                            \
        if (FILCH_COUNTED_)                                                                        \
            filch_f_->spawned++;                                                                   \
        if (FILCH_CHECKED_) {                                                                      \
            filch_s_->head.ticket = filch_frame_;                                                  \
            filch_f_->open++;                                                                      \
        }                                                                                          \
        if (FILCH_UNLIKELY_((char *)(filch_s_ + 1) > filch_load_word_(&filch_f_->limit)))          \
            FILCH_SLOW_SPAWN_(filch_f_, filch_t_, sizeof *filch_s_);                               \
        (void)filch_frame_;                                                                        \
    }                                                                                              \
    FILCH_INLINE_ R filch_of_##name##_finish_(filch_task_bounds_ *filch_f_, char *filch_t_,        \
                                              void *filch_frame_, int filch_l_)                    \
    {                                                                                              \
        struct filch_of_##name##_slot_ *filch_s_ =                                                 \
            (struct filch_of_##name##_slot_ *)(void *)filch_t_;                                    \
        if (FILCH_CHECKED_)                                                                        \
            filch_f_->open--;                                                                      \
        if (FILCH_UNLIKELY_(filch_t_ < filch_load_word_(&filch_f_->floor))) {                      \
            if (filch_slow_sync_(filch_f_, filch_t_, &filch_of_##name##_type_))                    \
                FILCH_##K##_RETURN_(filch_s_->u.result);                                           \
        } else if (FILCH_CHECKED_) {                                                               \
            filch_check_sync_(&filch_of_##name##_type_, &filch_s_->head, filch_frame_);            \
        }                                                                                          \
        (void)filch_frame_;                                                                        \
        FILCH_##K##_FORWARD_(                                                                      \
            filch_of_##name##_next_(filch_f_, filch_t_, filch_l_ MAP(FILCH_LOAD_, __VA_ARGS__)));  \
    }                                                                                              \
    FILCH_ALWAYS_INLINE_ R filch_of_##name##_enter_(filch_task_bounds_ *filch_f_, char **filch_p_, \
                                                    int filch_l_ MAP(FILCH_PARAM_, __VA_ARGS__))   \
    {                                                                                              \
        FILCH_##K##_FORWARD_(                                                                      \
            filch_of_##name##_next_(filch_f_, *filch_p_, filch_l_ MAP(FILCH_PASS_, __VA_ARGS__))); \
    }                                                                                              \
    FILCH_ALWAYS_INLINE_ void filch_of_##name##_spawn_(                                            \
        filch_task_bounds_ *filch_f_, char **filch_p_ MAP(FILCH_PARAM_, __VA_ARGS__))              \
    {                                                                                              \
        filch_of_##name##_push_(filch_f_, *filch_p_,                                               \
                                FILCH_FRAME_(filch_p_) MAP(FILCH_PASS_, __VA_ARGS__));             \
        *filch_p_ += sizeof(struct filch_of_##name##_slot_);                                       \
    }                                                                                              \
    FILCH_ALWAYS_INLINE_ R filch_of_##name##_sync_(filch_task_bounds_ *filch_f_, char **filch_p_,  \
                                                   int filch_l_)                                   \
    {                                                                                              \
        *filch_p_ -= sizeof(struct filch_of_##name##_slot_);                                       \
        FILCH_##K##_FORWARD_(                                                                      \
            filch_of_##name##_finish_(filch_f_, *filch_p_, FILCH_FRAME_(filch_p_), filch_l_));     \
    }                                                                                              \
    FILCH_INLINE_ R filch_of_##name##_run_(                                                        \
        int filch_none_ FILCH_UNUSED_ MAP(FILCH_PARAM_, __VA_ARGS__))                              \
    {                                                                                              \
        char filch_bytes_[sizeof(struct filch_of_##name##_slot_)] __attribute__((aligned(16)));    \
        struct filch_of_##name##_slot_ *filch_s_ =                                                 \
            (struct filch_of_##name##_slot_ *)(void *)filch_bytes_;                                \
        MAP(FILCH_STORE_, __VA_ARGS__)                                                             \
        filch_s_->head.type = &filch_of_##name##_type_;                                            \
        filch_run_slot_(filch_s_);                                                                 \
        FILCH_##K##_RETURN_(filch_s_->u.result);                                                   \
    }

/* The type of the task, by which other workers run it. */
#define FILCH_TYPE_INIT_(name)                                                                     \
    {                                                                                              \
        filch_of_##name##_exec_, sizeof(struct filch_of_##name##_slot_), #name, &filch_task_abi_1_ \
    }
#define FILCH_EXEC_OF_(K, name, MAP, ...)                                                          \
    static void filch_of_##name##_exec_(filch_task_bounds_ *filch_f_, char *filch_t_,              \
                                        void *filch_slot_of_)                                      \
    {                                                                                              \
        struct filch_of_##name##_slot_ *filch_s_ FILCH_UNUSED_ =                                   \
            (struct filch_of_##name##_slot_ *)filch_slot_of_;                                      \
        FILCH_##K##_KEEP_(filch_s_->u.result,                                                      \
                          FILCH_CALL_OF_(name)(filch_f_, filch_t_ MAP(FILCH_LOAD_, __VA_ARGS__))); \
    }

/* The head of the body.  The user adds the braces. */
#define FILCH_HEAD_OF_(L, R, name, MAP, ...)                                                       \
    L R filch_of_##name##_body_(filch_task_bounds_ *filch_self_ FILCH_UNUSED_,                     \
                                char *filch_top_ FILCH_UNUSED_ MAP(FILCH_PARAM_, __VA_ARGS__))     \
        FILCH_NOEXCEPT_

#define FILCH_DECL_(K, R, name, ...)                                                               \
    FILCH_SLOT_OF_(K, R, name, __VA_ARGS__)                                                        \
    FILCH_BODY_OF_(FILCH_C_, R, name, __VA_ARGS__)                                                 \
    FILCH_C_ const filch_task_type_ filch_of_##name##_type_;                                       \
    FILCH_NEXT_OF_(K, R, name, __VA_ARGS__)                                                        \
    FILCH_VERBS_OF_(K, R, name, __VA_ARGS__)                                                       \
    FILCH_ASSERT_(1, "for the semicolon")
#define FILCH_IMPL_(K, R, name, ...)                                                               \
    FILCH_EXEC_OF_(K, name, __VA_ARGS__)                                                           \
    const filch_task_type_ filch_of_##name##_type_ = FILCH_TYPE_INIT_(name);                       \
    FILCH_HEAD_OF_(, R, name, __VA_ARGS__)
#define FILCH_BOTH_(K, R, name, ...)                                                               \
    FILCH_SLOT_OF_(K, R, name, __VA_ARGS__)                                                        \
    FILCH_BODY_OF_(static, R, name, __VA_ARGS__)                                                   \
    static void filch_of_##name##_exec_(filch_task_bounds_ *bounds, char *top, void *slot);        \
    static const filch_task_type_ filch_of_##name##_type_ FILCH_UNUSED_ = FILCH_TYPE_INIT_(name);  \
    FILCH_STATIC_OF_(K, R, name, __VA_ARGS__)                                                      \
    FILCH_VERBS_OF_(K, R, name, __VA_ARGS__)                                                       \
    FILCH_EXEC_OF_(K, name, __VA_ARGS__)                                                           \
    FILCH_STATIC_HEAD_OF_(R, name, __VA_ARGS__)

#define FILCH_SPAWN_ALONE_(name)     filch_of_##name##_spawn_(filch_self_, &filch_top_)
#define FILCH_SPAWN_WITH_(name, ...) filch_of_##name##_spawn_(filch_self_, &filch_top_, __VA_ARGS__)
#define FILCH_CALL_ALONE_(name)      filch_of_##name##_enter_(filch_self_, &filch_top_, filch_level_)
#define FILCH_CALL_WITH_(name, ...)                                                                \
    filch_of_##name##_enter_(filch_self_, &filch_top_, filch_level_, __VA_ARGS__)
#define FILCH_RUN_ALONE_(name)     filch_of_##name##_run_(0)
#define FILCH_RUN_WITH_(name, ...) filch_of_##name##_run_(0, __VA_ARGS__)
#define FILCH_SYNC(name)           filch_of_##name##_sync_(filch_self_, &filch_top_, filch_level_)
#define FILCH_HUNGRY()             (!filch_load_word_(&filch_self_->limit))

#endif

/* FILCH_CHOOSE_(prefix, ...) appends the number of its arguments, and an underscore, to prefix. */
#define FILCH_NTH_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,     \
                   a18, n, ...)                                                                    \
    n
#define FILCH_COUNT_(...)                                                                          \
    FILCH_NTH_(__VA_ARGS__, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define FILCH_JOIN2_(a, b)         a##b
#define FILCH_JOIN_(a, b)          FILCH_JOIN2_(a, b)
#define FILCH_CHOOSE_(prefix, ...) FILCH_JOIN_(FILCH_JOIN_(prefix, FILCH_COUNT_(__VA_ARGS__)), _)

/* Choose the map by the number of pairs after the result and the name. */
#define FILCH_VALUE_2_(F, R, name)       F(VALUE, R, name, FILCH_MAP_0_, none)
#define FILCH_VALUE_4_(F, R, name, ...)  F(VALUE, R, name, FILCH_MAP_1_, __VA_ARGS__)
#define FILCH_VALUE_6_(F, R, name, ...)  F(VALUE, R, name, FILCH_MAP_2_, __VA_ARGS__)
#define FILCH_VALUE_8_(F, R, name, ...)  F(VALUE, R, name, FILCH_MAP_3_, __VA_ARGS__)
#define FILCH_VALUE_10_(F, R, name, ...) F(VALUE, R, name, FILCH_MAP_4_, __VA_ARGS__)
#define FILCH_VALUE_12_(F, R, name, ...) F(VALUE, R, name, FILCH_MAP_5_, __VA_ARGS__)
#define FILCH_VALUE_14_(F, R, name, ...) F(VALUE, R, name, FILCH_MAP_6_, __VA_ARGS__)
#define FILCH_VALUE_16_(F, R, name, ...) F(VALUE, R, name, FILCH_MAP_7_, __VA_ARGS__)
#define FILCH_VALUE_18_(F, R, name, ...) F(VALUE, R, name, FILCH_MAP_8_, __VA_ARGS__)
#define FILCH_NOTHING_1_(F, name)        F(VOID, void, name, FILCH_MAP_0_, none)
#define FILCH_NOTHING_3_(F, name, ...)   F(VOID, void, name, FILCH_MAP_1_, __VA_ARGS__)
#define FILCH_NOTHING_5_(F, name, ...)   F(VOID, void, name, FILCH_MAP_2_, __VA_ARGS__)
#define FILCH_NOTHING_7_(F, name, ...)   F(VOID, void, name, FILCH_MAP_3_, __VA_ARGS__)
#define FILCH_NOTHING_9_(F, name, ...)   F(VOID, void, name, FILCH_MAP_4_, __VA_ARGS__)
#define FILCH_NOTHING_11_(F, name, ...)  F(VOID, void, name, FILCH_MAP_5_, __VA_ARGS__)
#define FILCH_NOTHING_13_(F, name, ...)  F(VOID, void, name, FILCH_MAP_6_, __VA_ARGS__)
#define FILCH_NOTHING_15_(F, name, ...)  F(VOID, void, name, FILCH_MAP_7_, __VA_ARGS__)
#define FILCH_NOTHING_17_(F, name, ...)  F(VOID, void, name, FILCH_MAP_8_, __VA_ARGS__)

#define FILCH_TASK(...)      FILCH_CHOOSE_(FILCH_VALUE_, __VA_ARGS__)(FILCH_BOTH_, __VA_ARGS__)
#define FILCH_TASK_DECL(...) FILCH_CHOOSE_(FILCH_VALUE_, __VA_ARGS__)(FILCH_DECL_, __VA_ARGS__)
#define FILCH_TASK_IMPL(...) FILCH_CHOOSE_(FILCH_VALUE_, __VA_ARGS__)(FILCH_IMPL_, __VA_ARGS__)
#define FILCH_VOID_TASK(...) FILCH_CHOOSE_(FILCH_NOTHING_, __VA_ARGS__)(FILCH_BOTH_, __VA_ARGS__)
#define FILCH_VOID_TASK_DECL(...)                                                                  \
    FILCH_CHOOSE_(FILCH_NOTHING_, __VA_ARGS__)(FILCH_DECL_, __VA_ARGS__)
#define FILCH_VOID_TASK_IMPL(...)                                                                  \
    FILCH_CHOOSE_(FILCH_NOTHING_, __VA_ARGS__)(FILCH_IMPL_, __VA_ARGS__)

/* FILCH_ALONE_OR_(name, ...) is ALONE_ if there are no arguments, else WITH_. */
#define FILCH_ALONE_OR_(...)                                                                       \
    FILCH_NTH_(__VA_ARGS__, WITH_, WITH_, WITH_, WITH_, WITH_, WITH_, WITH_, WITH_, WITH_, WITH_,  \
               WITH_, WITH_, WITH_, WITH_, WITH_, WITH_, WITH_, ALONE_, 0)

#define FILCH_SPAWN(...) FILCH_JOIN_(FILCH_SPAWN_, FILCH_ALONE_OR_(__VA_ARGS__))(__VA_ARGS__)
#define FILCH_CALL(...)  FILCH_JOIN_(FILCH_CALL_, FILCH_ALONE_OR_(__VA_ARGS__))(__VA_ARGS__)
#define FILCH_RUN(...)   FILCH_JOIN_(FILCH_RUN_, FILCH_ALONE_OR_(__VA_ARGS__))(__VA_ARGS__)

#endif
