/* A stack overflow of a fiber is reported.  All other faults end the process as without Filch. */
#include "base/mem.h"
#include "check.h"
#include "child.h"
#include "ctx/ctx.h"
#include "stack/overflow.h"
#include "stack/stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>

#define SIZE     ((size_t)65536)
#define NOINLINE __attribute__((noinline))

struct plan {
    fi_stack_guard guard;
    size_t guard_size;
    size_t frame; /* additional bytes of each frame */
    const char *name;
    void (*before)(void); /* called before the handler is installed */
    void (*action)(struct plan *);
};

static fi_ctx home, away;
static fi_overflow_handler watch;
static volatile size_t depth;

/* Each call touches all pages of its frame, so that no page is skipped. */
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

/* Like a member of a struct at NULL.  UBSan reports an access to NULL itself before it happens. */
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

/* A signal that a process sent is not a fault, even with a fault address. */
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

    plan->action(plan);
    watch.current = NULL;
    fi_ctx_leave(&away, &home);
}

/* Initialise as a worker does, run the action on a fiber, and clean up. */
static void run_plan(void *arg)
{
    struct plan *plan = arg;
    fi_stack_config config = {
        .stack_size = SIZE, .guard = plan->guard, .guard_size = plan->guard_size};
    fi_stack_pool pool;
    fi_stack *s;

    alarm(600); /* a fault that repeats would keep the child running */
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
    bool many;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int kind = fi_stack_guard_probe(&fi_stack_vm_system, guard, page, &many);

    if (kind < 0 || kind == FI_STACK_GUARD_CANARY)
        printf("skipped: guards by %s are not supported by this kernel\n",
               fi_stack_guard_name(guard));
    return kind > 0 && kind != FI_STACK_GUARD_CANARY;
}

static bool died_of_segv(const struct child_end *end)
{
    return WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGSEGV;
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;

    for (; (text = strstr(text, part)) != NULL; text++)
        n++;
    return n;
}

static size_t count_filch_lines(const char *text)
{
    return count_of(text, "filch:");
}

static void expect_line(struct plan plan, const char *line)
{
    struct child_end end;

    plan.action = overflow;
    CHECK_INT(child_end_of(&end, run_plan, &plan), 0);
    CHECK(strstr(end.text, line) == end.text);
    CHECK_INT(count_filch_lines(end.text), 1);
    CHECK(died_of_segv(&end));
}

#define REPORT_OF(who) "filch: stack overflow in " who " (stack of 65536 bytes); raise stack_size\n"

static void recursion_is_reported(void **state)
{
    (void)state;
    for (int kind = 0; kind <= FI_STACK_GUARD_PROTECT; kind++)
        if (kind_works((fi_stack_guard)kind))
            expect_line((struct plan){.guard = (fi_stack_guard)kind, .frame = 16, .name = "digger"},
                        REPORT_OF("fiber \"digger\""));
}

static void large_frames_are_reported(void **state)
{
    (void)state;
    if (!kind_works(FI_STACK_GUARD_BEST))
        return;
    expect_line((struct plan){.frame = 3000, .name = "a"}, REPORT_OF("fiber \"a\""));
    expect_line((struct plan){.frame = 40000, .guard_size = 262144, .name = "b"},
                REPORT_OF("fiber \"b\""));
    expect_line((struct plan){.frame = 60000, .name = "c"}, REPORT_OF("fiber \"c\""));
}

static void odd_names_are_shown(void **state)
{
    static const char *const seventy =
        "0123456789012345678901234567890123456789012345678901234567890123456789";
    char line[256];

    (void)state;
    if (!kind_works(FI_STACK_GUARD_BEST))
        return;
    expect_line((struct plan){.name = NULL}, REPORT_OF("a fiber without a name"));
    expect_line((struct plan){.name = ""}, REPORT_OF("a fiber without a name"));
    expect_line((struct plan){.name = "a\nb\033"}, REPORT_OF("fiber \"a?b?\""));
    snprintf(line, sizeof line, REPORT_OF("fiber \"%.64s\""), seventy);
    expect_line((struct plan){.name = seventy}, line);
}

/* --- other faults --- */

static void expect_end(struct plan plan, const char *text, bool segv, int code)
{
    struct child_end end;

    CHECK_INT(child_end_of(&end, run_plan, &plan), 0);
    CHECK_INT(count_filch_lines(end.text), 0);
    CHECK(strstr(end.text, text) != NULL);
    if (segv)
        CHECK(died_of_segv(&end));
    else
        CHECK(WIFEXITED(end.status) && WEXITSTATUS(end.status) == code);
}

static void null_pointer_dies_as_before(void **state)
{
    (void)state;
    expect_end((struct plan){.action = touch_null}, "", true, 0);
}

static void sent_signal_kills_as_before(void **state)
{
    (void)state;
    expect_end((struct plan){.action = send_to_self}, "", true, 0);
    expect_end((struct plan){.action = send_forged}, "", true, 0);
}

static void write_text(const char *s)
{
    ssize_t done = write(STDERR_FILENO, s, strlen(s));

    (void)done;
}

static void users_handler(int sig, siginfo_t *info, void *context)
{
    (void)context;
    write_text(sig == SIGSEGV && info->si_addr == NEAR_NULL ? "user saw null\n"
                                                            : "user saw another\n");
    _exit(7);
}

static void users_plain_handler(int sig)
{
    write_text(sig == SIGSEGV ? "plain saw it\n" : "plain saw another\n");
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

static void ignore_segv(void)
{
    install_handler(SIG_IGN, 0);
}

/* Flags that a program may save and restore; the kernel accepts them. */
static void ignore_segv_with_odd_flags(void)
{
    install_handler(SIG_IGN, SA_SIGINFO);
}

static void previous_handler_is_called(void **state)
{
    (void)state;
    expect_end((struct plan){.action = touch_null, .before = install_users_handler},
               "user saw null\n", false, 7);
    expect_end((struct plan){.action = touch_null, .before = install_plain_handler},
               "plain saw it\n", false, 8);
    expect_end((struct plan){.action = send_to_self, .before = install_plain_handler},
               "plain saw it\n", false, 8);
    expect_end((struct plan){.action = send_to_self, .before = ignore_segv}, "", false, 0);
    expect_end((struct plan){.action = send_to_self, .before = ignore_segv_with_odd_flags}, "",
               false, 0);
}

static void previous_handler_sees_the_overflow(void **state)
{
    struct plan plan = {.action = overflow, .before = install_users_handler, .name = "x"};
    struct child_end end;

    (void)state;
    if (!kind_works(FI_STACK_GUARD_BEST))
        return;
    CHECK_INT(child_end_of(&end, run_plan, &plan), 0);
    CHECK_STR(end.text, REPORT_OF("fiber \"x\"") "user saw another\n");
    CHECK(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 7);
}

/* --- handlers that recover --- */

static sigjmp_buf back;

static void users_recovery(int sig)
{
    (void)sig;
    siglongjmp(back, 1);
}

static void users_handler_once(int sig)
{
    write_text(sig == SIGSEGV ? "noted\n" : "noted another\n");
}

static void install_recovery(void)
{
    install_handler(users_recovery, 0);
}

static void install_recovery_once(void)
{
    install_handler(users_recovery, (int)SA_RESETHAND);
}

static void install_recovery_sysv(void);

/* System V semantics: the handler is reset when it is called. */
static void users_recovery_sysv(int sig)
{
    (void)sig;
    install_recovery_sysv();
    siglongjmp(back, 1);
}

static void install_recovery_sysv(void)
{
    install_handler(users_recovery_sysv, (int)SA_RESETHAND);
}

static void install_handler_once(void)
{
    install_handler(users_handler_once, (int)SA_RESETHAND);
}

static void touch_guard(void)
{
    if (sigsetjmp(back, 1) == 0)
        *(volatile char *)(watch.current->low - 1) = 1;
    else
        write_text("recovered\n");
}

static void touch_guard_four_times(struct plan *plan)
{
    (void)plan;
    for (int i = 0; i < 3; i++)
        touch_guard();
    fi_overflow_handler_remove();
    if (fi_overflow_handler_install() == 0)
        touch_guard();
}

/* With a handler that is to be called once, ours is removed the first time. */
static void touch_guard_and_install_again(struct plan *plan)
{
    (void)plan;
    touch_guard();
    if (fi_overflow_handler_install() == 0)
        touch_guard();
}

static void overflow_is_reported_after_a_recovery(void **state)
{
    struct plan plan = {.action = touch_guard_four_times, .before = install_recovery, .name = "r"};
    struct child_end end;

    (void)state;
    if (!kind_works(FI_STACK_GUARD_BEST))
        return;
    CHECK_INT(child_end_of(&end, run_plan, &plan), 0);
    CHECK_INT(count_of(end.text, REPORT_OF("fiber \"r\"")), 4);
    CHECK_INT(count_of(end.text, "recovered\n"), 4);
    CHECK(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0);
}

static void resethand_handler_is_called_once(void **state)
{
    struct plan note = {.action = overflow, .before = install_handler_once, .name = "o"};
    struct child_end end;

    (void)state;
    if (!kind_works(FI_STACK_GUARD_BEST))
        return;
    CHECK_INT(child_end_of(&end, run_plan, &note), 0);
    CHECK_STR(end.text, REPORT_OF("fiber \"o\"") "noted\n");
    CHECK(died_of_segv(&end));
}

static void install_works_again(void **state)
{
    struct plan once = {
        .action = touch_guard_and_install_again, .before = install_recovery_once, .name = "i"};
    struct plan of_old = once;
    struct child_end end;

    (void)state;
    if (!kind_works(FI_STACK_GUARD_BEST))
        return;
    CHECK_INT(child_end_of(&end, run_plan, &once), 0);
    CHECK_INT(count_of(end.text, REPORT_OF("fiber \"i\"")), 2);
    CHECK_INT(count_of(end.text, "recovered\n"), 1);
    CHECK(died_of_segv(&end));
    of_old.before = install_recovery_sysv;
    CHECK_INT(child_end_of(&end, run_plan, &of_old), 0);
    CHECK_INT(count_of(end.text, REPORT_OF("fiber \"i\"")), 2);
    CHECK_INT(count_of(end.text, "recovered\n"), 2);
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
        expect_end((struct plan){.action = touch_foreign_guard}, "", true, 0);
}

static void *fault_in_thread(void *arg)
{
    touch_null(arg);
    return NULL;
}

static void fault_in_a_thread(struct plan *plan)
{
    pthread_t t;

    if (pthread_create(&t, NULL, fault_in_thread, plan) == 0)
        pthread_join(t, NULL);
}

static void thread_without_handler_dies_as_before(void **state)
{
    (void)state;
    expect_end((struct plan){.action = fault_in_a_thread}, "", true, 0);
}

/* --- install and remove --- */

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
    CHECK(!same_handler(&during, &before[0])); /* one worker still uses it */
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
