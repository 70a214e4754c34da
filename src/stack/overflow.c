/* The signal handler for stack overflows: report, then call the previous handler.  Workers and
 * threads that borrow one enter it (sched/worker.c). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* REG_RIP */
#endif
#include "stack/overflow.h"
#include "base/at_fork.h"
#include "base/fatal.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/printable.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <ucontext.h>
#include <unistd.h>

/* The previous handler may be a crash reporter that needs a large stack. */
#define ALTERNATE_SIZE ((size_t)64 * 1024)

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51 /* size of a signal frame, which depends on the vector registers */
#endif

/* A thread-local of a library that was loaded late is otherwise allocated at its first use, which
 * is not async-signal-safe. */
static _Thread_local fi_overflow_handler *thread_handler __attribute__((tls_model("initial-exec")));

static const int signals[] = {SIGSEGV, SIGBUS};

#define SIGNALS 2

/* previous[] is written only while the handler is not installed, so the handler needs no lock. */
static fi_lock lock;
static unsigned users;
static struct sigaction previous[SIGNALS];
static bool installed[SIGNALS]; /* not removed yet; another handler may have replaced it */

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_OVERFLOW, &lock, NULL);
}

static int signal_index(int sig)
{
    return sig == signals[0] ? 0 : 1;
}

/* --- reports, without stdio because a signal handler writes them --- */

/* One write for a line, so that lines of several threads do not mix. */
#define NAME_MAX_SHOWN 64

struct line {
    char text[256];
    size_t n;
};

static void append(struct line *l, const char *s)
{
    while (*s && l->n < sizeof l->text)
        l->text[l->n++] = *s++;
}

static void append_name(struct line *l, const char *name)
{
    for (size_t i = 0; i < NAME_MAX_SHOWN && name[i] && l->n < sizeof l->text; i++)
        l->text[l->n++] = fi_printable(name[i]);
}

static void append_number(struct line *l, size_t v)
{
    char digits[24];
    size_t i = sizeof digits;

    digits[--i] = '\0';
    do {
        digits[--i] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    append(l, digits + i);
}

static void append_fiber(struct line *l, const char *name)
{
    if (name && *name) {
        append(l, "fiber \"");
        append_name(l, name);
        append(l, "\"");
    } else {
        append(l, "a fiber without a name");
    }
}

static void write_line(const struct line *l)
{
    ssize_t done = write(STDERR_FILENO, l->text, l->n);
    (void)done; /* there is no other way to report it */
}

void fi_stack_report_overflow(const char *name, size_t size)
{
    struct line l = {.n = 0};

    append(&l, "filch: stack overflow in ");
    append_fiber(&l, name);
    append(&l, " (stack of ");
    append_number(&l, size);
    append(&l, " bytes); raise stack_size\n");
    write_line(&l);
}

static void report_unmapped_code(const char *name)
{
    struct line l = {.n = 0};

    append(&l, "filch: ");
    append_fiber(&l, name);
    append(&l, " runs code that is not in memory; if its library was closed, stop the runtime "
               "before dlclose or link the library with -z nodelete\n");
    write_line(&l);
}

/* filch_go and filch_group_run do not check their function, because the check would cost time. */
static void report_null_call(const char *name)
{
    struct line l = {.n = 0};

    append(&l, "filch: ");
    append_fiber(&l, name);
    append(&l, " called a function that is NULL; if it had just started, pass a function to "
               "filch_go or filch_group_run\n");
    write_line(&l);
}

/* --- in the handler: async-signal-safe only --- */

static const fi_stack_bounds *overflowed_stack(const siginfo_t *info)
{
    const fi_stack_bounds *m = thread_handler ? thread_handler->current : NULL;
    uintptr_t at = (uintptr_t)info->si_addr;

    if (!m || info->si_code <= 0) /* sent by a process: there is no address */
        return NULL;
    return at < (uintptr_t)m->low && at >= (uintptr_t)m->low - m->guard_size ? m : NULL;
}

/* Returns: UINTPTR_MAX on other processors. */
static uintptr_t pc_of(const void *context)
{
    const ucontext_t *c = context;

#if defined __x86_64__
    return (uintptr_t)c->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
    return (uintptr_t)c->uc_mcontext.pc;
#else
    return c ? UINTPTR_MAX : 0;
#endif
}

#define NULL_PAGES 65536u /* never mapped */

/* The instruction itself cannot be read: its library was unloaded, or its address is NULL. */
static bool is_unmapped_code(int sig, const siginfo_t *info, const void *context)
{
    return sig == SIGSEGV && info->si_code == SEGV_MAPERR &&
           (uintptr_t)info->si_addr == pc_of(context);
}

static void report_code(const char *name, uintptr_t pc)
{
    if (pc == 0)
        report_null_call(name);
    else if (pc >= NULL_PAGES)
        report_unmapped_code(name);
}

/* Restore the old disposition.  The faulting instruction runs again on return.  A signal that was
 * sent must be sent again. */
static void restore_and_repeat(int sig, const siginfo_t *info)
{
    sigaction(sig, &previous[signal_index(sig)], NULL);
    if (info->si_code <= 0)
        raise(sig);
}

/* Like the kernel, regardless of the flags. */
static bool is_function(const struct sigaction *sa)
{
    return sa->sa_handler != SIG_DFL && sa->sa_handler != SIG_IGN;
}

/* A function is called and may recover (siglongjmp), so this handler stays for the next fault.
 * With SA_RESETHAND the kernel restores the default. */
static void call_previous(int sig, siginfo_t *info, void *context)
{
    const struct sigaction *old = &previous[signal_index(sig)];

    if (old->sa_handler == SIG_IGN && info->si_code <= 0)
        return;
    if (!is_function(old) || (old->sa_flags & (int)SA_RESETHAND))
        restore_and_repeat(sig, info);
    else if (old->sa_flags & SA_SIGINFO)
        old->sa_sigaction(sig, info, context);
    else
        old->sa_handler(sig);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    int saved = errno;
    const fi_stack_bounds *m = overflowed_stack(info);

    if (m)
        fi_stack_report_overflow(m->name, m->size);
    else if (thread_handler && thread_handler->current && is_unmapped_code(sig, info, context))
        report_code(thread_handler->current->name, pc_of(context));
    call_previous(sig, info, context);
    errno = saved;
}

/* --- install and remove [lock] --- */

static bool is_ours(const struct sigaction *sa)
{
    return sa->sa_sigaction == on_fault;
}

/* A handler that was installed later may call this one.  Installing this one over it would make the
 * two call each other forever.  The previous handler does not know this one. */
static bool may_call_ours(int i, const struct sigaction *now)
{
    return installed[i] && is_function(now) && now->sa_sigaction != previous[i].sa_sigaction;
}

/* The flags and mask of the old handler apply while it is called. */
static int install_handler(int i)
{
    struct sigaction now, ours;

    if (sigaction(signals[i], NULL, &now) != 0)
        return -errno;
    if (is_ours(&now) || may_call_ours(i, &now))
        return 0;
    previous[i] = ours = now;
    ours.sa_sigaction = on_fault;
    ours.sa_flags = (ours.sa_flags & (SA_NODEFER | SA_RESTART)) | SA_SIGINFO | SA_ONSTACK;
    if (sigaction(signals[i], &ours, NULL) != 0)
        return -errno;
    installed[i] = true;
    return 0;
}

static void uninstall_handler(int i)
{
    struct sigaction now;

    if (sigaction(signals[i], NULL, &now) != 0 || !is_ours(&now))
        return;
    sigaction(signals[i], &previous[i], NULL);
    installed[i] = false;
}

int fi_overflow_handler_install(void)
{
    int e = 0;

    fi_lock_lock(&lock);
    for (int i = 0; i < SIGNALS && e == 0; i++)
        e = install_handler(i);
    if (e == 0)
        users++;
    for (int i = 0; i < SIGNALS && e < 0 && users == 0; i++)
        uninstall_handler(i);
    fi_lock_unlock(&lock);
    return e;
}

void fi_overflow_handler_remove(void)
{
    fi_lock_lock(&lock);
    if (users == 0)
        fi_fatal("fi_overflow_handler_remove: the handler is not installed");
    if (--users == 0)
        for (int i = 0; i < SIGNALS; i++)
            uninstall_handler(i);
    fi_lock_unlock(&lock);
}

/* --- threads --- */

static size_t alternate_size(void)
{
    return ALTERNATE_SIZE + (size_t)getauxval(AT_MINSIGSTKSZ);
}

static bool has_alternate(fi_overflow_handler *w)
{
    if (!w->alternate) {
        w->alternate_size = alternate_size();
        w->alternate = fi_mem_alloc(w->alternate_size, FI_CACHE_LINE);
    }
    return w->alternate != NULL;
}

int fi_overflow_handler_enter(fi_overflow_handler *w)
{
    stack_t ours;

    if (!has_alternate(w))
        return -ENOMEM;
    ours = (stack_t){.ss_sp = w->alternate, .ss_size = w->alternate_size};
    if (sigaltstack(&ours, &w->previous) != 0)
        return -errno;
    w->current = NULL;
    w->is_entered = true;
    thread_handler = w;
    return 0;
}

void fi_overflow_handler_leave(fi_overflow_handler *w)
{
    if (thread_handler != w)
        fi_fatal(
            "fi_overflow_handler_leave: called in another thread than fi_overflow_handler_enter");
    thread_handler = NULL;
    w->is_entered = false;
    sigaltstack(&w->previous, NULL);
}

void fi_overflow_handler_fini(fi_overflow_handler *w)
{
    if (w->is_entered)
        fi_overflow_handler_leave(w);
    if (w->alternate)
        fi_mem_free(w->alternate, w->alternate_size, FI_CACHE_LINE);
    w->alternate = NULL;
}
