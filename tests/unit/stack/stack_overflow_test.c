/* How a process ends when a fiber's stack overflows, and that nothing else ends differently. */
#include "base/mem.h"
#include "check.h"
#include "ctx/ctx.h"
#include "stack/overflow.h"
#include "stack/stack.h"
#include "unit/ctx/child.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>

#define SIZE     ((size_t)65536)
#define NOINLINE __attribute__((noinline))

struct plan {
    fi_stack_guard guard;
    size_t guard_size;
    size_t frame; /* bytes that each call takes besides the usual */
    const char *name;
    void (*before)(void); /* done before the handler is installed */
    void (*deed)(struct plan *);
};

static fi_ctx home, away;
static fi_overflow_handler watch;
static volatile size_t depth;

/* Each call takes a frame and touches it, so that no page is jumped over within it. */
NOINLINE static size_t dig(size_t frame)
{
    volatile char p[frame + 1];

    p[0] = 1;
    depth++;
    return frame == SIZE_MAX ? 0 : dig(frame) + (size_t)p[0];
}

static void overflow(struct plan *plan)
{
    dig(plan->frame);
}

/* As a member of a struct at NULL would be; NULL itself is caught by UBSan before it happens. */
#define NEAR_NULL ((void *)16)

static void touch_null(struct plan *plan)
{
    (void)plan;
    volatile char *volatile nowhere = NEAR_NULL;

    *nowhere = 1;
}

static void send_to_self(struct plan *plan)
{
    (void)plan;
    raise(SIGSEGV);
}

/* A signal that a process sent is not a fault, whatever its address. */
static void send_forged(struct plan *plan)
{
    siginfo_t info;

    (void)plan;
    memset(&info, 0, sizeof info);
    info.si_signo = SIGSEGV;
    info.si_code = SI_QUEUE;
    info.si_addr = (void *)(watch.current->low - 1);
    syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGSEGV, &info);
}

static void on_fiber(void *arg)
{
    struct plan *plan = arg;

    plan->deed(plan);
    watch.current = NULL;
    fi_ctx_leave(&away, &home);
}

/* Set up as a worker does, run the deed on a fiber, and take everything down again. */
static void carry_out(void *arg)
{
    struct plan *plan = arg;
    fi_stack_config config = {
        .stack_size = SIZE, .guard = plan->guard, .guard_size = plan->guard_size};
    fi_stack_pool pool;
    fi_stack *s;

    alarm(600); /* else a fault that repeats would leave a child running for ever */
    if (plan->before)
        plan->before();
    if (fi_stack_pool_init(&pool, &config) != 0 || fi_stack_pool_alloc(&pool, &s, 1) != 1 ||
        fi_overflow_handler_install() != 0 || fi_overflow_handler_enter(&watch) != 0)
        _exit(99);
    fi_stack_bounds mark = {s->low, s->size, pool.guard_size, plan->name};
    fi_ctx_init_thread(&home);
    fi_ctx_make(&away, s->low, s->size, on_fiber, plan);
    watch.current = &mark;
    fi_ctx_switch(&home, &away);
    fi_ctx_fini(&away);
    fi_overflow_handler_fini(&watch);
    fi_overflow_handler_remove();
    fi_stack_pool_free(&pool, s);
    fi_stack_pool_fini(&pool);
    _exit(fi_mem_live().blocks == 0 ? 0 : 98);
}

static bool kind_works(fi_stack_guard guard)
{
    int kind = fi_stack_guard_probe(&fi_stack_vm_system, guard, (size_t)sysconf(_SC_PAGESIZE));

    if (kind < 0 || kind == FI_STACK_GUARD_CANARY)
        printf("a guard by %s does not work on this kernel\n", fi_stack_guard_name(guard));
    return kind > 0 && kind != FI_STACK_GUARD_CANARY;
}

static bool died_of_segv(const struct child_end *end)
{
    return WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGSEGV;
}

static size_t times(const char *text, const char *part)
{
    size_t n = 0;

    for (; (text = strstr(text, part)) != NULL; text++)
        n++;
    return n;
}

static size_t lines_of_ours(const char *text)
{
    return times(text, "filch:");
}

static void expect_line(struct plan plan, const char *line)
{
    struct child_end end;

    plan.deed = overflow;
    CHECK_INT(child_end_of(&end, carry_out, &plan), 0);
    CHECK(strstr(end.text, line) == end.text);
    CHECK_INT(lines_of_ours(end.text), 1);
    CHECK(died_of_segv(&end));
}

#define LINE_OF(who) "filch: stack overflow in " who " (stack of 65536 bytes); raise stack_size\n"

static void recursion_is_reported(void **state)
{
    (void)state;
    for (int kind = 0; kind <= FI_STACK_GUARD_PROTECT; kind++)
        if (kind_works((fi_stack_guard)kind))
            expect_line((struct plan){.guard = (fi_stack_guard)kind, .frame = 16, .name = "digger"},
                        LINE_OF("fiber \"digger\""));
}

static void large_frames_are_reported(void **state)
{
    (void)state;
    if (!kind_works(FI_STACK_GUARD_BEST))
        return;
    expect_line((struct plan){.frame = 3000, .name = "a"}, LINE_OF("fiber \"a\""));
    expect_line((struct plan){.frame = 40000, .guard_size = 262144, .name = "b"},
                LINE_OF("fiber \"b\""));
    expect_line((struct plan){.frame = 60000, .name = "c"}, LINE_OF("fiber \"c\""));
}

static void odd_names_are_shown(void **state)
{
    static const char *const seventy =
        "0123456789012345678901234567890123456789012345678901234567890123456789";
    char line[256];

    (void)state;
    if (!kind_works(FI_STACK_GUARD_BEST))
        return;
    expect_line((struct plan){.name = NULL}, LINE_OF("a fiber without a name"));
    expect_line((struct plan){.name = ""}, LINE_OF("a fiber without a name"));
    snprintf(line, sizeof line, LINE_OF("fiber \"%.64s\""), seventy);
    expect_line((struct plan){.name = seventy}, line);
}

/* --- everything else ends as before --- */

static void expect_end(struct plan plan, const char *text, bool segv, int code)
{
    struct child_end end;

    CHECK_INT(child_end_of(&end, carry_out, &plan), 0);
    CHECK_INT(lines_of_ours(end.text), 0);
    CHECK(strstr(end.text, text) != NULL);
    if (segv)
        CHECK(died_of_segv(&end));
    else
        CHECK(WIFEXITED(end.status) && WEXITSTATUS(end.status) == code);
}

static void null_pointer_dies_as_before(void **state)
{
    (void)state;
    expect_end((struct plan){.deed = touch_null}, "", true, 0);
}

static void sent_signal_kills_as_before(void **state)
{
    (void)state;
    expect_end((struct plan){.deed = send_to_self}, "", true, 0);
    expect_end((struct plan){.deed = send_forged}, "", true, 0);
}

static void say(const char *s)
{
    ssize_t done = write(STDERR_FILENO, s, strlen(s));

    (void)done;
}

static void users_handler(int sig, siginfo_t *info, void *context)
{
    (void)context;
    say(sig == SIGSEGV && info->si_addr == NEAR_NULL ? "user saw null\n" : "user saw another\n");
    _exit(7);
}

static void users_plain_handler(int sig)
{
    say(sig == SIGSEGV ? "plain saw it\n" : "plain saw another\n");
    _exit(8);
}

static void install_users_handler(void)
{
    struct sigaction sa = {.sa_sigaction = users_handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    sigaction(SIGSEGV, &sa, NULL);
}

static void install_plain_handler(void)
{
    signal(SIGSEGV, users_plain_handler);
}

static void install_handler(void (*handler)(int), int flags)
{
    struct sigaction sa = {.sa_handler = handler, .sa_flags = flags | SA_ONSTACK};

    sigaction(SIGSEGV, &sa, NULL);
}

static void ignore_it(void)
{
    install_handler(SIG_IGN, 0);
}

/* Flags that a program has saved and restored; the kernel accepts them. */
static void ignore_it_with_odd_flags(void)
{
    install_handler(SIG_IGN, SA_SIGINFO);
}

static void previous_handler_is_called(void **state)
{
    (void)state;
    expect_end((struct plan){.deed = touch_null, .before = install_users_handler},
               "user saw null\n", false, 7);
    expect_end((struct plan){.deed = touch_null, .before = install_plain_handler}, "plain saw it\n",
               false, 8);
    expect_end((struct plan){.deed = send_to_self, .before = install_plain_handler},
               "plain saw it\n", false, 8);
    expect_end((struct plan){.deed = send_to_self, .before = ignore_it}, "", false, 0);
    expect_end((struct plan){.deed = send_to_self, .before = ignore_it_with_odd_flags}, "", false,
               0);
}

static void previous_handler_sees_the_overflow(void **state)
{
    struct plan plan = {.deed = overflow, .before = install_users_handler, .name = "x"};
    struct child_end end;

    (void)state;
    if (!kind_works(FI_STACK_GUARD_BEST))
        return;
    CHECK_INT(child_end_of(&end, carry_out, &plan), 0);
    CHECK_STR(end.text, LINE_OF("fiber \"x\"") "user saw another\n");
    CHECK(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 7);
}

/* --- handlers that recover --- */

static sigjmp_buf back;

static void users_recovery(int sig)
{
    (void)sig;
    siglongjmp(back, 1);
}

static void users_note(int sig)
{
    say(sig == SIGSEGV ? "noted\n" : "noted another\n");
}

static void install_recovery(void)
{
    install_handler(users_recovery, 0);
}

static void install_recovery_for_once(void)
{
    install_handler(users_recovery, (int)SA_RESETHAND);
}

static void install_recovery_of_old(void);

/* As was the way of System V. */
static void users_recovery_of_old(int sig)
{
    (void)sig;
    install_recovery_of_old();
    siglongjmp(back, 1);
}

static void install_recovery_of_old(void)
{
    install_handler(users_recovery_of_old, (int)SA_RESETHAND);
}

static void install_note_for_once(void)
{
    install_handler(users_note, (int)SA_RESETHAND);
}

static void touch_guard(void)
{
    if (sigsetjmp(back, 1) == 0)
        *(volatile char *)(watch.current->low - 1) = 1;
    else
        say("recovered\n");
}

static void touch_guard_thrice_and_once_more(struct plan *plan)
{
    (void)plan;
    for (int i = 0; i < 3; i++)
        touch_guard();
    fi_overflow_handler_remove();
    if (fi_overflow_handler_install() == 0)
        touch_guard();
}

/* The first time, ours steps aside for a handler that wants to be called but once. */
static void touch_guard_and_install_again(struct plan *plan)
{
    (void)plan;
    touch_guard();
    if (fi_overflow_handler_install() == 0)
        touch_guard();
}

static void overflow_is_reported_after_a_recovery(void **state)
{
    struct plan plan = {
        .deed = touch_guard_thrice_and_once_more, .before = install_recovery, .name = "r"};
    struct child_end end;

    (void)state;
    if (!kind_works(FI_STACK_GUARD_BEST))
        return;
    CHECK_INT(child_end_of(&end, carry_out, &plan), 0);
    CHECK_INT(times(end.text, LINE_OF("fiber \"r\"")), 4);
    CHECK_INT(times(end.text, "recovered\n"), 4);
    CHECK(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0);
}

static void resethand_handler_is_called_once(void **state)
{
    struct plan note = {.deed = overflow, .before = install_note_for_once, .name = "o"};
    struct child_end end;

    (void)state;
    if (!kind_works(FI_STACK_GUARD_BEST))
        return;
    CHECK_INT(child_end_of(&end, carry_out, &note), 0);
    CHECK_STR(end.text, LINE_OF("fiber \"o\"") "noted\n");
    CHECK(died_of_segv(&end));
}

static void install_works_again(void **state)
{
    struct plan once = {
        .deed = touch_guard_and_install_again, .before = install_recovery_for_once, .name = "i"};
    struct plan of_old = once;
    struct child_end end;

    (void)state;
    if (!kind_works(FI_STACK_GUARD_BEST))
        return;
    CHECK_INT(child_end_of(&end, carry_out, &once), 0);
    CHECK_INT(times(end.text, LINE_OF("fiber \"i\"")), 2);
    CHECK_INT(times(end.text, "recovered\n"), 1);
    CHECK(died_of_segv(&end));
    of_old.before = install_recovery_of_old;
    CHECK_INT(child_end_of(&end, carry_out, &of_old), 0);
    CHECK_INT(times(end.text, LINE_OF("fiber \"i\"")), 2);
    CHECK_INT(times(end.text, "recovered\n"), 2);
    CHECK(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0);
}

/* --- faults that are not an overflow --- */

/* A fault in the guard of another stack is not an overflow of this thread. */
static void touch_foreign_guard(struct plan *plan)
{
    static fi_stack_bounds elsewhere;

    (void)plan;
    const fi_stack_bounds *m = watch.current;
    elsewhere = *m;
    elsewhere.low += 2 * SIZE;
    watch.current = &elsewhere;
    *(volatile char *)(m->low - 1) = 1;
}

static void another_guard_is_not_an_overflow(void **state)
{
    (void)state;
    if (kind_works(FI_STACK_GUARD_BEST))
        expect_end((struct plan){.deed = touch_foreign_guard}, "", true, 0);
}

static void *fault_in_thread(void *arg)
{
    touch_null(arg);
    return NULL;
}

static void let_a_thread_fault(struct plan *plan)
{
    pthread_t t;

    if (pthread_create(&t, NULL, fault_in_thread, plan) == 0)
        pthread_join(t, NULL);
}

static void thread_without_handler_dies_as_before(void **state)
{
    (void)state;
    expect_end((struct plan){.deed = let_a_thread_fault}, "", true, 0);
}

/* --- comings and goings --- */

static bool same_handler(const struct sigaction *a, const struct sigaction *b)
{
    return a->sa_sigaction == b->sa_sigaction && a->sa_flags == b->sa_flags;
}

static void remove_restores(void **state)
{
    struct sigaction before[2], after[2], during;
    stack_t alt_before, alt_during, alt_after;

    (void)state;
    sigaction(SIGSEGV, NULL, &before[0]);
    sigaction(SIGBUS, NULL, &before[1]);
    sigaltstack(NULL, &alt_before);
    CHECK_INT(fi_overflow_handler_install(), 0);
    CHECK_INT(fi_overflow_handler_install(), 0);
    CHECK_INT(fi_overflow_handler_enter(&watch), 0);
    sigaltstack(NULL, &alt_during);
    CHECK(alt_during.ss_sp == watch.alternate);
    fi_overflow_handler_fini(&watch);
    fi_overflow_handler_remove();
    sigaction(SIGSEGV, NULL, &during);
    CHECK(!same_handler(&during, &before[0])); /* one user is left */
    fi_overflow_handler_remove();
    sigaction(SIGSEGV, NULL, &after[0]);
    sigaction(SIGBUS, NULL, &after[1]);
    sigaltstack(NULL, &alt_after);
    CHECK(same_handler(&before[0], &after[0]) && same_handler(&before[1], &after[1]));
    CHECK(alt_before.ss_sp == alt_after.ss_sp && alt_before.ss_flags == alt_after.ss_flags);
    CHECK_INT(fi_mem_live().blocks, 0);
}

/* A handler that was installed over ours is not removed with ours, and ours is not installed over
 * it again, because it may call ours. */
static void handler_over_ours_stays(void **state)
{
    struct sigaction before, over = {.sa_handler = users_plain_handler}, after;

    (void)state;
    CHECK_INT(fi_overflow_handler_install(), 0);
    sigaction(SIGSEGV, &over, &before);
    fi_overflow_handler_remove();
    sigaction(SIGSEGV, NULL, &after);
    CHECK(after.sa_handler == users_plain_handler);
    CHECK_INT(fi_overflow_handler_install(), 0);
    sigaction(SIGSEGV, NULL, &after);
    CHECK(after.sa_handler == users_plain_handler);
    fi_overflow_handler_remove();
    sigaction(SIGSEGV, &before, NULL); /* the other handler is removed and restores ours */
    CHECK_INT(fi_overflow_handler_install(), 0);
    fi_overflow_handler_remove();
    sigaction(SIGSEGV, NULL, &after);
    CHECK(after.sa_sigaction != before.sa_sigaction);
}

CHECK_MAIN(recursion_is_reported, large_frames_are_reported, odd_names_are_shown,
           null_pointer_dies_as_before, sent_signal_kills_as_before, previous_handler_is_called,
           previous_handler_sees_the_overflow, overflow_is_reported_after_a_recovery,
           resethand_handler_is_called_once, install_works_again, another_guard_is_not_an_overflow,
           thread_without_handler_dies_as_before, remove_restores, handler_over_ours_stays)
