/* misuse in PLACE USE:  a correct use (uses.h), from an unusual context
 * misuse do MISTAKE:    a mistake of the caller
 * misuse list:          all places, uses and mistakes, one per line, for the driver */
#include "../main_fiber.h"
#include "uses.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static const use *wanted;

static void run_wanted(void *arg)
{
    (void)arg;
    wanted->run();
}

static void end(void)
{
    NEED(filch_stop());
    puts("right");
    fflush(stdout);
}

/* ---- places ---- */

static void in_main(void)
{
    wanted->run();
}

static void in_main_twice(void)
{
    wanted->run();
    wanted->run();
}

static void after_stop(void)
{
    MUST(FILCH_RUN(use_tree, 3) == 8);
    NEED(filch_stop());
    wanted->run();
    NEED(filch_stop());
    NEED(filch_stop());
    wanted->run();
}

static void *as_thread(void *arg)
{
    wanted->run();
    return arg;
}

static void in_thread(void)
{
    pthread_t t;

    NEED(-pthread_create(&t, NULL, as_thread, NULL));
    NEED(-pthread_join(t, NULL));
}

static void in_threads(void)
{
    pthread_t t[4];

    for (int i = 0; i < 4; i++)
        NEED(-pthread_create(&t[i], NULL, as_thread, NULL));
    for (int i = 0; i < 4; i++)
        NEED(-pthread_join(t[i], NULL));
}

static void in_fiber(void)
{
    filch_fiber *f = filch_fiber_start(as_thread, NULL);

    NEED_PTR(f);
    NEED(filch_fiber_join(f, NULL));
}

static void in_main_fiber(void)
{
    NEED(run_main_fiber(run_wanted, NULL));
}

static void in_small_fiber(void)
{
    const filch_fiber_attr small = {.name = "small", .stack_size = 65536};
    filch_fiber *f = filch_fiber_start_attr(&small, as_thread, NULL);

    NEED_PTR(f);
    NEED(filch_fiber_join(f, NULL));
}

FILCH_VOID_TASK(task_of_use)
{
    wanted->run();
}

static void in_task(void)
{
    FILCH_RUN(task_of_use);
}

static void in_group(void)
{
    filch_group g = FILCH_GROUP_INIT;

    NEED(filch_group_run(&g, run_wanted, NULL));
    NEED(filch_group_wait(&g));
}

static void in_job(void)
{
    filch_job *j = filch_job_new(run_wanted, NULL);

    NEED_PTR(j);
    NEED(filch_job_submit(j));
    NEED(filch_job_wait(j));
}

static void in_pump(void)
{
    filch_pump p = FILCH_PUMP_INIT;
    filch_job *j = filch_job_new(run_wanted, NULL);

    NEED_PTR(j);
    filch_job_set_pump(j, &p);
    NEED(filch_job_submit(j));
    NEED(filch_pump_wait(&p, j));
}

static filch_wait_group one;

static void run_and_post(void *arg)
{
    (void)arg;
    wanted->run();
    filch_wait_group_done(&one);
}

static void in_timer(void)
{
    static filch_timer t;

    filch_wait_group_add(&one, 1);
    NEED(filch_timer_start(&t, 0, run_and_post, NULL));
    NEED(filch_wait_group_wait(&one));
    filch_timer_stop(&t);
}

static int64_t as_call(void *arg)
{
    (void)arg;
    wanted->run();
    return 0;
}

static void *call_blocking(void *arg)
{
    NEED(filch_run_blocking(as_call, NULL));
    return arg;
}

static void in_blocking(void)
{
    filch_fiber *f = filch_fiber_start(call_blocking, NULL);

    NEED_PTR(f);
    NEED(filch_fiber_join(f, NULL));
}

static int ending_key;

static void *end_with_local(void *arg)
{
    NEED(filch_fls_set(ending_key, &ending_key));
    return arg;
}

static void in_local_end(void)
{
    filch_wait_group_add(&one, 1);
    ending_key = (int)NEED(filch_fls_new(run_and_post));
    filch_fiber *f = filch_fiber_start(end_with_local, NULL);
    NEED_PTR(f);
    NEED(filch_fiber_join(f, NULL));
    NEED(filch_wait_group_wait(&one));
}

static void in_once(void)
{
    static filch_once o;

    filch_once_run(&o, run_wanted, NULL);
}

static void part_of_for(size_t lo, size_t hi, void *ctx)
{
    (void)ctx;
    for (; lo < hi; lo++)
        wanted->run();
}

static void in_for(void)
{
    filch_for(0, 4, 1, part_of_for, NULL);
}

/* In a cancelled fiber only waits fail. */
static void *cancel_and_continue(void *arg)
{
    filch_fiber *self = filch_fiber_self();

    NEED_PTR(self);
    filch_fiber_cancel(self);
    MUST(filch_fiber_is_cancelled() && filch_fiber_uncancel());
    wanted->run();
    return arg;
}

static void in_uncancelled(void)
{
    filch_fiber *f = filch_fiber_start(cancel_and_continue, NULL);

    NEED_PTR(f);
    NEED(filch_fiber_join(f, NULL));
}

static void at_exit(void)
{
    wanted->run();
    end();
}

static void in_atexit(void)
{
    atexit(at_exit);
    MUST(FILCH_RUN(use_tree, 3) == 8);
    exit(0);
}

static void in_fork_child(void)
{
    int status = 0;

    MUST(FILCH_RUN(use_tree, 3) == 8);
    pid_t child = fork();
    NEED(child < 0 ? -errno : 0);
    if (child == 0) {
        wanted->run();
        NEED(filch_stop());
        _exit(0);
    }
    NEED(waitpid(child, &status, 0) < 0 ? -errno : 0);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} places[] = {
    {"main", in_main},
    {"main_twice", in_main_twice},
    {"after_stop", after_stop},
    {"thread", in_thread},
    {"threads", in_threads},
    {"fiber", in_fiber},
    {"main_fiber", in_main_fiber},
    {"small_fiber", in_small_fiber},
    {"task", in_task},
    {"group", in_group},
    {"job", in_job},
    {"pump", in_pump},
    {"timer", in_timer},
    {"blocking", in_blocking},
    {"local_end", in_local_end},
    {"once", in_once},
    {"for", in_for},
    {"uncancelled", in_uncancelled},
    {"atexit", in_atexit},
    {"fork_child", in_fork_child},
};

/* ---- mistakes that must be detected ---- */

static void unlock_free_mutex(void)
{
    filch_mutex m = {0};
    filch_mutex_unlock(&m);
}

static void end_free_read(void)
{
    filch_rwlock l = {0};
    filch_rwlock_rdunlock(&l);
}

static void end_free_write(void)
{
    filch_rwlock l = {0};
    filch_rwlock_wrunlock(&l);
}

static void done_too_often(void)
{
    filch_wait_group g = {0};
    filch_wait_group_done(&g);
}

static void barrier_of_none(void)
{
    filch_barrier b = {{{0, 0, 0, 0}}, NULL, 0, 0};
    filch_barrier_wait(&b, 0);
}

static void post_too_many(void)
{
    filch_sem s = FILCH_SEM_INIT(UINT64_MAX);
    filch_sem_post(&s);
}

static filch_once again;

static void run_again(void *arg)
{
    filch_once_run(&again, run_again, arg);
}

static void once_in_itself(void)
{
    filch_once_run(&again, run_again, NULL);
}

static filch_chan *waited;
static atomic_bool is_receiving;

static void receive(void *arg)
{
    (void)arg;
    is_receiving = true;
    filch_chan_recv(waited, NULL);
}

/* With one worker, the other fiber waits when this one runs again. */
static void free_waited_body(void *arg)
{
    (void)arg;
    NEED(filch_go(receive, NULL));
    while (!is_receiving)
        filch_yield();
    filch_chan_free(waited);
}

static void free_waited_chan(void)
{
    waited = filch_chan_new(0, 0);
    NEED_PTR(waited);
    NEED(filch_start(&(filch_config){.workers = 1}));
    NEED(run_main_fiber(free_waited_body, NULL));
}

static void pump_from_fiber_body(void *arg)
{
    filch_pump p = FILCH_PUMP_INIT;
    (void)arg;
    filch_pump_run(&p);
}

static void pump_from_fiber(void)
{
    NEED(run_main_fiber(pump_from_fiber_body, NULL));
}

static void exit_thread(void *arg)
{
    pthread_exit(arg);
}

static void pthread_exit_in_fiber(void)
{
    NEED(run_main_fiber(exit_thread, NULL));
}

static void deadlock_body(void *arg)
{
    filch_sem s = {{{0, 0, 0, 0}}, NULL, 0};
    (void)arg;
    filch_sem_wait(&s);
}

static void deadlock(void)
{
    NEED(filch_start(&(filch_config){.deadlock = FILCH_DEADLOCK_ABORT}));
    NEED(run_main_fiber(deadlock_body, NULL));
}

static void join_self_body(void *arg)
{
    (void)arg;
    MUST(filch_fiber_join(filch_fiber_self(), NULL) == -EDEADLK);
    MUST(filch_stop() == -EDEADLK && filch_start(NULL) == 1 && filch_stop() == 1 &&
         filch_main(main_fiber_run, 0, NULL) == EXIT_FAILURE);
}

/* ---- mistakes that return an error ---- */

static void stop_from_fiber(void)
{
    NEED(run_main_fiber(join_self_body, NULL));
}

static void start_twice(void)
{
    NEED(filch_start(NULL));
    MUST(filch_start(NULL) == 1 && filch_stop() == 1);
}

static void wrong_config(void)
{
    filch_config c[] = {{.workers = 100000},
                        {.stack_size = 1},
                        {.stack_size = (size_t)-1},
                        {.name = "a name that is too long"},
                        {.dump_signal = -1},
                        {.dump_signal = 9},
                        {.blocking_threads = 100000},
                        {.affinity = (filch_affinity)77},
                        {.deadlock = (filch_deadlock)77},
                        {.caller_runs = (filch_caller_runs)77},
                        {.watchdog_ns = INT64_MAX},
                        {.trace = "x", .trace_ns = INT64_MAX}};

    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++)
        if (filch_start(&c[i]) != -EINVAL)
            victim_end(WRONG, __FILE_NAME__, __LINE__, "filch_start with an invalid config",
                       (long long)i);
}

static void wrong_variable(void)
{
    static const char *const v[][2] = {{"FILCH_DEQUE", "none"},
                                       {"FILCH_STEAL_BATCH", "65"},
                                       {"FILCH_PUBLISH", "77"},
                                       {"FILCH_SEARCH_NS", "9223372036854775807"}};

    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) {
        setenv(v[i][0], v[i][1], 1);
        MUST(NEED(filch_start(NULL)) == 0 && filch_stop() == 0);
        setenv("FILCH_STRICT", "1", 1);
        if (filch_start(NULL) != -EINVAL)
            victim_end(WRONG, __FILE_NAME__, __LINE__, "filch_start with a wrong variable",
                       (long long)i);
        unsetenv(v[i][0]);
        unsetenv("FILCH_STRICT");
    }
}

static atomic_int rounds;

/* After the stop of a timer the runtime must not use its memory. */
static void restart_pending_timer(void)
{
    static filch_timer t[3];

    for (int i = 0; i < 100; i++)
        for (int k = 0; k < 3; k++)
            NEED(filch_timer_start(&t[k], filch_now() + FILCH_MS(i == 99 ? 1000000 : 100),
                                   use_count, &rounds));
    for (int k = 0; k < 3; k++)
        filch_timer_stop(&t[k]);
    memset(t, 0x55, sizeof t);
    NEED(filch_sleep(FILCH_MS(300)));
    use_time();
}

static void restart_fired_timer(void)
{
    static filch_timer t;

    for (int i = 1; i <= 20; i++) {
        NEED(filch_timer_start(&t, 0, use_count, &rounds));
        while (rounds < i)
            NEED(filch_sleep(FILCH_US(100)));
        MUST(filch_timer_stop(&t) == 0);
    }
}

static void too_many_fls_values(void)
{
    int e = 0;

    for (int i = 0; i < FILCH_FLS_MAX + 1; i++)
        e = filch_fls_new(NULL);
    MUST(e == -EAGAIN);
}

static void too_many_cases(void)
{
    static filch_case cases[FILCH_SELECT_MAX + 1];

    MUST(filch_try_select(cases, FILCH_SELECT_MAX + 1) == -EINVAL &&
         filch_select(cases, FILCH_SELECT_MAX + 1) == -EINVAL);
}

static void handle_after_stop(void)
{
    filch_fiber *f = filch_fiber_start(use_same, NULL);

    NEED_PTR(f);
    NEED(filch_stop());
    NEED(filch_fiber_join(f, NULL));
    MUST(filch_set_allocator(NULL) == 0);
}

static void reply_by_select(void *arg)
{
    filch_chan *reply = arg;
    int x = 5;
    filch_case c[] = {FILCH_CASE_SEND(reply, &x)};

    filch_select(c, 1);
}

/* Allowed after a plain send: the sender does not touch the channel once its item was received. */
static void free_reply_channel(void)
{
    for (int i = 0; i < 2000; i++) {
        int x = 0;
        filch_chan *reply = filch_chan_new(sizeof x, 0);
        NEED_PTR(reply);
        NEED(filch_go(reply_by_select, reply));
        NEED(filch_chan_recv(reply, &x));
        MUST(x == 5);
        filch_chan_free(reply);
    }
}

static void alloc_invalid(void)
{
    MUST(!filch_alloc(SIZE_MAX) && !filch_alloc(SIZE_MAX / 2) &&
         !filch_chan_new(SIZE_MAX, SIZE_MAX));
    MUST(!filch_chan_new(SIZE_MAX / 2, 3) && !filch_chan_new(3, SIZE_MAX / 2));
    MUST(!filch_job_new_copy(use_count, &rounds, FILCH_JOB_PAYLOAD_MAX + 1));
}

/* High-priority jobs go before other jobs, but must not stop timers and sockets. */
static atomic_bool is_over;

static void chain(void *arg)
{
    filch_job *next;

    if (is_over || !(next = filch_job_new(chain, arg)))
        return;
    filch_job_set_priority(next, FILCH_PRIORITY_HIGH);
    filch_job_submit(next);
    filch_job_release(next);
}

static void end_chains(void *arg)
{
    (void)arg;
    is_over = true;
}

static void start_chains(void)
{
    NEED(filch_worker_count() > 0 ? 0 : filch_start(NULL));
    for (unsigned i = 0; i < 2 * filch_worker_count(); i++) {
        filch_job *first = filch_job_new(chain, NULL);
        NEED_PTR(first);
        filch_job_set_priority(first, FILCH_PRIORITY_HIGH);
        NEED(filch_job_submit(first));
        filch_job_release(first);
    }
}

static void high_jobs_and_timer(void)
{
    static filch_timer t;

    start_chains();
    NEED(filch_timer_start(&t, filch_now() + FILCH_MS(5), end_chains, NULL));
    while (!is_over)
        usleep(1000);
    filch_timer_stop(&t);
}

static void read_and_end(void *arg)
{
    char c;

    MUST(NEED(filch_read((int)(intptr_t)arg, &c, 1)) == 1);
    is_over = true;
}

static void high_jobs_and_pipe(void)
{
    int fd[2];

    NEED(filch_pipe(fd));
    NEED(filch_go(read_and_end, (void *)(intptr_t)fd[0]));
    NEED(filch_sleep(FILCH_MS(5))); /* until it waits */
    start_chains();
    MUST(write(fd[1], "x", 1) == 1);
    while (!is_over)
        usleep(1000);
    NEED(filch_close(fd[0]));
    NEED(filch_close(fd[1]));
}

/* ---- mistakes that a release build may not detect, but that must not hang or corrupt ---- */

static void join_twice(void)
{
    filch_fiber *f = filch_fiber_start(use_same, NULL);

    NEED_PTR(f);
    NEED(filch_fiber_join(f, NULL));
    filch_fiber_join_until(f, NULL, filch_now() + FILCH_MS(50));
    use_fiber();
}

static void join_detached(void)
{
    filch_fiber *f = filch_fiber_start(use_same, NULL);

    NEED_PTR(f);
    filch_fiber_detach(f);
    filch_sleep(FILCH_MS(5));
    filch_fiber_join_until(f, NULL, filch_now() + FILCH_MS(50));
    use_fiber();
}

static void cancel_joined(void)
{
    filch_fiber *f = filch_fiber_start(use_same, NULL);

    NEED_PTR(f);
    NEED(filch_fiber_join(f, NULL));
    filch_fiber_cancel(f);
    use_go();
}

static void wait_twice_for_job(void)
{
    filch_job *j = filch_job_new(use_count, &rounds);

    NEED_PTR(j);
    NEED(filch_job_submit(j));
    NEED(filch_job_wait(j));
    filch_job_wait_until(j, filch_now() + FILCH_MS(50));
    use_jobs();
}

static void receive_from_null(void)
{
    int x;
    filch_chan_try_recv(NULL, &x);
}

static void send_to_null(void)
{
    int x = 1;
    filch_chan_try_send(NULL, &x);
}

/* ---- stacks ---- */

static volatile char sink;

__attribute__((noinline)) static int recurse(int n)
{
    volatile char frame[512];

    frame[0] = (char)n;
    sink = frame[0];
    return n == 0 ? 0 : recurse(n - 1) + frame[0];
}

static void overflow_body(void *arg)
{
    (void)arg;
    filch_fiber_set_name("deep");
    recurse(1000000);
}

static void stack_overflow(void)
{
    NEED(run_main_fiber(overflow_body, NULL));
}

/* A frame of several pages, as compiled without -fstack-clash-protection: its far end is touched
 * first. */
static void large_frame_body(void *arg)
{
    char *frame = __builtin_alloca(8192 + 256 * 1024);
    (void)arg;
    filch_fiber_set_name("large");
    ((volatile char *)frame)[0] = 1;
    sink = ((volatile char *)frame)[0];
    victim_end(WRONG, __FILE_NAME__, __LINE__,
               "a write to a frame larger than the stack was not detected", 0);
}

static void large_frame(void)
{
    for (int i = 0; i < 8; i++)
        NEED(filch_go(use_count, &rounds)); /* neighbouring stacks */
    NEED(run_main_fiber(large_frame_body, NULL));
}

/* ---- the command ---- */

static const struct {
    const char *name, *may; /* how it may end: see hostile.py */
    void (*run)(void);
} mistakes[] = {
    {"unlock_free_mutex", "dies", unlock_free_mutex},
    {"end_free_read", "dies", end_free_read},
    {"end_free_write", "dies", end_free_write},
    {"done_too_often", "dies", done_too_often},
    {"barrier_of_none", "dies", barrier_of_none},
    {"post_too_many", "dies", post_too_many},
    {"once_in_itself", "dies", once_in_itself},
    {"free_waited_chan", "dies", free_waited_chan},
    {"pump_from_fiber", "dies", pump_from_fiber},
    {"pthread_exit_in_fiber", "dies", pthread_exit_in_fiber},
    {"deadlock", "dies", deadlock},
    {"stop_from_fiber", "right", stop_from_fiber},
    {"start_twice", "right", start_twice},
    {"wrong_config", "right", wrong_config},
    {"wrong_variable", "right", wrong_variable},
    {"restart_pending_timer", "right,dies", restart_pending_timer},
    {"restart_fired_timer", "right", restart_fired_timer},
    {"too_many_fls_values", "right", too_many_fls_values},
    {"too_many_cases", "right", too_many_cases},
    {"handle_after_stop", "right", handle_after_stop},
    {"free_reply_channel", "right", free_reply_channel},
    {"high_jobs_and_timer", "right", high_jobs_and_timer},
    {"high_jobs_and_pipe", "right", high_jobs_and_pipe},
    {"alloc_of_nonsense", "right", alloc_invalid},
    {"join_twice", "right,dies", join_twice},
    {"join_detached", "right,dies", join_detached},
    {"cancel_joined", "right,dies", cancel_joined},
    {"wait_twice_for_job", "right,dies", wait_twice_for_job},
    {"receive_from_null", "right,dies", receive_from_null},
    {"send_to_null", "right,dies", send_to_null},
    {"stack_overflow", "overflow", stack_overflow},
    {"large_frame", "overflow", large_frame},
};

static void list(void)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        for (size_t k = 0; k < USES; k++)
            printf("in %s %s\n", places[i].name, uses[k].name);
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        printf("do %s %s\n", mistakes[i].name, mistakes[i].may);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0)
        return list(), 0;
    if (argc == 4 && strcmp(argv[1], "in") == 0)
        wanted = use_called(argv[3]);
    for (size_t i = 0; wanted && i < sizeof places / sizeof places[0]; i++)
        if (strcmp(places[i].name, argv[2]) == 0)
            return places[i].run(), end(), 0;
    for (size_t i = 0; argc == 3 && i < sizeof mistakes / sizeof mistakes[0]; i++)
        if (strcmp(mistakes[i].name, argv[2]) == 0)
            return mistakes[i].run(), end(), 0;
    fprintf(stderr, "usage: misuse in PLACE USE | do MISTAKE | list\n");
    return 2;
}
