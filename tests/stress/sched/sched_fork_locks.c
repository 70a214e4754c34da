/* fork() while another thread holds a lock of Filch.  The child can use all of Filch.
 *
 * A process-wide lock is held when fork() begins, which waits for it.  The locks of a runtime are
 * held during the whole fork(), and so for ever in the child.  Threads call functions that take
 * these locks during many forks.  A child that hangs is killed by an alarm, which the parent
 * detects. */
#include "base/at_fork.h"
#include "fib.h"
#include "fiber/handle.h"
#include "io/io.h"
#include "sched/runtime.h"
#include "unit/task/helpers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_SECONDS 30
#define FORKS         20

static bool ended_with(pid_t pid, int code)
{
    int status = 0;
    bool ok = pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
              WEXITSTATUS(status) == code;

    if (!ok)
        fprintf(stderr, "a child ended with status %#x\n", (unsigned)status);
    return ok;
}

static void await(atomic_int *flag)
{
    while (!atomic_load(flag))
        sched_yield();
}

/* ---- use of Filch in the child ---- */

static filch_fiber *left; /* a handle of a stopped runtime */
static atomic_int ran;

static void *same(void *arg)
{
    return arg;
}

static void run(void *arg)
{
    (void)arg;
    atomic_fetch_add(&ran, 1);
}

static int64_t block(void *arg)
{
    return (intptr_t)arg;
}

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                \
            return false;                                                                          \
        }                                                                                          \
    } while (0)

static bool use_locals(void)
{
    int key = filch_fls_new(NULL);

    MUST(key >= 0 || key == -EAGAIN);
    MUST(filch_fls_set(0, &key) == 0 && filch_fls_get(0) == &key);
    return true;
}

static bool use_jobs(void)
{
    filch_job *a = filch_job_new(run, NULL), *b = filch_job_new(run, NULL);
    filch_job *c = filch_job_new(run, NULL), *d = filch_job_new(run, NULL);

    MUST(filch_job_after(b, a) == 0 && filch_job_after(c, b) == 0 && filch_job_after(c, a) == 0);
    MUST(filch_job_set_parent(d, c) == 0 && filch_job_submit(d) == 0);
    MUST(filch_job_submit(b) == 0 && filch_job_submit(c) == 0 && filch_job_submit(a) == 0);
    MUST(filch_job_wait(c) == 0);
    filch_job_release(a), filch_job_release(b);
    return true;
}

static void *use_io(void *arg)
{
    return filch_run_blocking(block, (void *)3) == 3 && filch_sleep(1000) == 0 ? arg : NULL;
}

static bool use_fibers(void)
{
    filch_fiber_attr attr = {.stack_size = (size_t)64 << 10};
    filch_timer t = FILCH_TIMER_INIT;
    void *got = NULL;
    int x = 0;
    filch_chan *c = filch_chan_new(sizeof x, 1);

    MUST(filch_fiber_join(filch_fiber_start(use_io, &x), &got) == 0 && got == &x);
    MUST(filch_fiber_join(filch_fiber_start_attr(&attr, same, &x), &got) == 0 && got == &x);
    MUST(filch_chan_send(c, &x) == 0 && filch_chan_recv(c, &x) == 0);
    filch_chan_free(c);
    atomic_store(&ran, 0);
    MUST(filch_timer_start(&t, filch_now(), run, NULL) == 0);
    await(&ran);
    MUST(filch_timer_stop(&t) == 0);
    return true;
}

static bool use_runtime(void)
{
    MUST(FILCH_RUN(fib, 12) == 144);
    MUST(use_jobs() && use_fibers());
    MUST(filch_stop() == 0);
    return true;
}

static bool use_everything(void)
{
    void *got = NULL;

    MUST(use_locals());
    MUST(filch_set_allocator(NULL) == -EBUSY);
    MUST(filch_fiber_join(left, &got) == 0 && got == &left);
    MUST(use_runtime());
    MUST(filch_start(&(filch_config){.workers = 2, .trace = "/dev/null"}) == 0);
    MUST(use_runtime());
    return true;
}

static _Noreturn void run_child(void)
{
    alarm(CHILD_SECONDS);
    _exit(use_everything() ? 42 : 1);
}

static void keep_a_handle(void)
{
    CHECK_INT(filch_start(NULL), 0);
    CHECK((left = filch_fiber_start(same, &left)) != NULL);
    CHECK_INT(filch_stop(), 0);
}

/* ---- locks of the process ---- */

typedef struct holder {
    fi_lock *lock;
    atomic_int held, forked;
} holder;

/* Hold the lock until fork() waits for it, or a fork has ended without taking it. */
static void *hold_until_awaited(void *arg)
{
    holder *h = arg;

    fi_lock_lock(h->lock);
    atomic_store(&h->held, 1);
    while (fi_load_relaxed(&h->lock->word) != FI_LOCK_CONTENDED && !atomic_load(&h->forked))
        sched_yield();
    fi_lock_unlock(h->lock);
    return NULL;
}

static void fork_while_held(fi_lock *lock)
{
    holder h = {.lock = lock};
    pthread_t thread;
    pid_t pid;

    CHECK_INT(pthread_create(&thread, NULL, hold_until_awaited, &h), 0);
    await(&h.held);
    pid = fork();
    if (pid == 0)
        run_child();
    atomic_store(&h.forked, 1);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK(ended_with(pid, 42));
}

static void test_process_locks(void **state)
{
    int locks = 0;

    (void)state;
    keep_a_handle();
    for (int with = 0; with < 2; with++) {
        if (with)
            CHECK_INT(filch_start(&(filch_config){.workers = 2}), 0);
        for (int part = 0; part < FI_FORK_PARTS; part++)
            if (fi_at_fork_lock((fi_fork_part)part)) {
                fork_while_held(fi_at_fork_lock((fi_fork_part)part));
                locks++;
            }
    }
    CHECK(locks == 2 * 11);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_fiber_join(left, NULL), 0);
}

/* ---- calls that take these locks ---- */

static void call_keys(void)
{
    int key = filch_fls_new(NULL);

    if (key < 0 && key != -EAGAIN)
        abort();
}

static void call_allocator(void)
{
    filch_set_allocator(NULL);
}

static void call_runtime(void)
{
    filch_worker_count();
}

static void call_job_deps(void)
{
    if (!use_jobs())
        abort();
}

static atomic_int enough;

static void *call_repeatedly(void *arg)
{
    void (**call)(void) = arg;

    while (!atomic_load(&enough))
        (*call)();
    return NULL;
}

static void test_calls(void **state)
{
    static void (*calls[])(void) = {call_keys, call_allocator, call_runtime, call_job_deps};

    (void)state;
    keep_a_handle();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        pthread_t threads[2];
        atomic_store(&enough, 0);
        for (int k = 0; k < 2; k++)
            CHECK_INT(pthread_create(&threads[k], NULL, call_repeatedly, &calls[i]), 0);
        for (int k = 0; k < FORKS; k++) {
            pid_t pid = fork();
            if (pid == 0)
                run_child();
            CHECK(ended_with(pid, 42));
        }
        atomic_store(&enough, 1);
        for (int k = 0; k < 2; k++)
            CHECK_INT(pthread_join(threads[k], NULL), 0);
    }
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_fiber_join(left, NULL), 0);
}

/* ---- locks of a runtime ---- */

#define WORDS_MAX 100

/* The words of locks and of biased locks: 0 is free, 1 is held. */
typedef struct lock_words {
    FI_ATOMIC(uint32_t) * word[WORDS_MAX];
    int n;
} lock_words;

static void add_lock(lock_words *w, fi_lock *l)
{
    if (w->n == WORDS_MAX)
        abort();
    w->word[w->n++] = &l->word;
}

static void add_biased_lock(lock_words *w, fi_biased_lock *l)
{
    if (w->n == WORDS_MAX)
        abort();
    w->word[w->n++] = &l->word;
}

static void add_pools(lock_words *w, fi_runtime *rt)
{
    for (int i = 0; i < FI_RECORD_CLASSES; i++)
        add_lock(w, &rt->record_depots[i].pop_lock);
    add_lock(w, &rt->stack_pool.lock);
    for (int i = 0; i < FI_STACK_SIZES; i++)
        if (rt->sized_pools[i].stack_size)
            add_lock(w, &rt->sized_pools[i].lock);
}

static void add_runtime(lock_words *w, fi_runtime *rt)
{
    add_lock(w, &rt->external_lock);
    add_lock(w, &rt->fibers_lock);
    add_lock(w, &rt->watchdog.lock);
    add_lock(w, &rt->idle.lock);
    add_lock(w, &rt->global.lock);
    add_lock(w, &rt->high_queue.lock);
    add_lock(w, &rt->low_queue.lock);
    add_lock(w, &rt->external_events_lock);
    add_lock(w, &rt->names->lock);
    add_lock(w, &fi_io_find(rt)->blocking_pool.lock);
    add_pools(w, rt);
    for (unsigned i = 0; i < rt->n_workers; i++) {
        add_lock(w, &rt->workers[i].inbox.lock);
        add_lock(w, &rt->workers[i].timers.lock);
        add_biased_lock(w, &rt->workers[i].ready.lock);
    }
}

static bool try_hold(FI_ATOMIC(uint32_t) * word)
{
    uint32_t none = 0;

    return __atomic_compare_exchange_n((uint32_t *)(void *)word, &none, 1, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

/* Wake the sleepers of a lock.  No thread sleeps on the word of a biased lock. */
static void unlock_word(FI_ATOMIC(uint32_t) * word)
{
    fi_lock_unlock((fi_lock *)(void *)word);
}

/* All or none, because other threads lock in another order. */
static bool try_hold_all(lock_words *w)
{
    for (int i = 0; i < w->n; i++)
        if (!try_hold(w->word[i])) {
            while (i-- > 0)
                unlock_word(w->word[i]);
            return false;
        }
    return true;
}

static lock_words held_words;
static atomic_int wanted, held, forked, released;

static void *hold_all(void *arg)
{
    await(&wanted);
    while (!try_hold_all(&held_words))
        sched_yield();
    atomic_store(&held, 1);
    await(&forked);
    for (int i = held_words.n; i-- > 0;)
        unlock_word(held_words.word[i]);
    atomic_store(&released, 1);
    return arg;
}

/* [any thread or fiber] Returns 0 in the child. */
static pid_t fork_with_all_held(void)
{
    pid_t pid;

    atomic_store(&wanted, 1);
    await(&held);
    pid = fork();
    if (pid == 0) {
        alarm(CHILD_SECONDS);
        return 0;
    }
    atomic_store(&forked, 1);
    await(&released);
    return pid;
}

static pid_t made;

static void *fork_and_use(void *arg)
{
    made = fork_with_all_held();
    if (made == 0)
        run_child();
    return arg;
}

/* The child ends with its fiber, with status 0. */
static void *fork_and_return(void *arg)
{
    made = fork_with_all_held();
    return arg;
}

static atomic_int over;

/* It has a handle that no other fiber joins.  The lock of the handle is held as well. */
static void fork_and_return_with_self(void *arg)
{
    fi_handle *me = fi_handle_of(filch_fiber_self(), __func__);

    (void)arg;
    add_biased_lock(&held_words, &me->lock);
    made = fork_with_all_held();
    atomic_store(&over, 1);
}

static void run_with_all_held(void *(*body)(void *), size_t stack_size, int code)
{
    filch_fiber_attr attr = {.stack_size = stack_size};
    fi_runtime *rt;
    pthread_t thread;

    CHECK_INT(filch_start(&(filch_config){.workers = 2, .trace = "/dev/null"}), 0);
    CHECK(use_fibers()); /* so that all parts of the runtime exist */
    rt = fi_runtime_lock_running();
    fi_runtime_unlock_running();
    held_words.n = 0;
    add_runtime(&held_words, rt);
    atomic_store(&wanted, 0);
    atomic_store(&held, 0);
    atomic_store(&forked, 0);
    atomic_store(&released, 0);
    atomic_store(&over, 0);
    CHECK_INT(pthread_create(&thread, NULL, hold_all, NULL), 0);
    if (!body) {
        CHECK_INT(filch_go(fork_and_return_with_self, NULL), 0);
        await(&over);
    } else if (stack_size == 0) {
        body(NULL);
    } else {
        CHECK_INT(filch_fiber_join(filch_fiber_start_attr(&attr, body, NULL), NULL), 0);
    }
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK(ended_with(made, code));
    CHECK_INT(filch_stop(), 0);
}

/* ---- fork() in a blocking call and in a pump ---- */

static int64_t fork_blocking(void *arg)
{
    (void)arg;
    made = fork_with_all_held();
    return 5;
}

/* The child ends with the call, with status 0. */
static void *call_fork_blocking(void *arg)
{
    return filch_run_blocking(fork_blocking, NULL) == 5 ? arg : NULL;
}

static void fork_in_pump(void *arg)
{
    (void)arg;
    made = fork();
    if (made == 0)
        alarm(CHILD_SECONDS);
}

/* The child continues after the pump.  Jobs after the one that forked run in the parent only. */
static void test_pump(void **state)
{
    filch_pump p = FILCH_PUMP_INIT;
    filch_job *j, *later;

    (void)state;
    keep_a_handle();
    CHECK_INT(filch_start(NULL), 0);
    j = filch_job_new(fork_in_pump, NULL);
    later = filch_job_new(run, NULL);
    filch_job_set_pump(j, &p);
    CHECK_INT(filch_job_after(later, j), 0);
    CHECK_INT(filch_job_submit(later), 0);
    CHECK_INT(filch_job_submit(j), 0);
    atomic_store(&ran, 0);
    CHECK_INT(filch_pump_run(&p), 1);
    if (made == 0)
        run_child();
    CHECK(ended_with(made, 42));
    CHECK_INT(filch_job_wait(later), 0);
    CHECK_INT(filch_job_wait(j), 0);
    CHECK_INT(atomic_load(&ran), 1);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_fiber_join(left, NULL), 0);
}

static void test_runtime_locks(void **state)
{
    (void)state;
    keep_a_handle();
    run_with_all_held(fork_and_use, 0, 42);
    run_with_all_held(fork_and_use, (size_t)256 << 10, 42);
    run_with_all_held(fork_and_return, (size_t)64 << 10, 0);
    run_with_all_held(call_fork_blocking, (size_t)64 << 10, 0);
    run_with_all_held(NULL, 0, 0);
    CHECK_INT(filch_fiber_join(left, NULL), 0);
}

/* In the child of a process with several threads, a lock of the sanitizer may be held for ever (the
 * allocator of gcc 12), or the sanitizer does not support new threads (ThreadSanitizer). */
int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_EACH(test_process_locks, test_calls, test_runtime_locks, test_pump)};

    if (FI_UNDER_ASAN || FI_UNDER_TSAN || EMULATED) {
        puts("skipped: sanitizers and emulators do not support fork() with several threads");
        return 77;
    }
    return CHECK_RUN(tests);
}
