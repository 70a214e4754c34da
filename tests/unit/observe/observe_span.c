/* Work and span of programs for which both are known, with a clock that the programs advance. */
#include "check.h"
#include "unit/observe/forks.h"

#include "base/compiler.h"
#include "sched/span.h"

#include <filch/filch.h>

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic(uint64_t) ticks;

static uint64_t test_clock(void)
{
    return ticks;
}

static void advance(uint64_t n)
{
    ticks += n;
}

static void advance_in_body(void *n)
{
    advance((uintptr_t)n);
}

static void *ptr_of(uintptr_t n)
{
    return (void *)n;
}

static void start_with_span(void)
{
    fi_span_clock = test_clock;
    setenv("FILCH_SCALE", "/dev/null", 1);
    setenv("FILCH_SCALE_BURDEN_NS", "0", 1);
    CHECK_INT(filch_start(&(filch_config){.workers = 4}), 0);
    CHECK_INT(filch_worker_count(), 1);
}

static void check_and_stop(uint64_t work, uint64_t span)
{
    fi_span_sums s;

    fi_span_read(&s);
    CHECK_INT(s.work_ticks, work);
    CHECK_INT(s.span_ticks, span);
    CHECK_INT(s.burdened_ticks, span);
    CHECK_INT(filch_stop(), 0);
    unsetenv("FILCH_SCALE");
}

/* ---- tasks ---- */

FILCH_VOID_TASK(leaf, uint64_t, n)
{
    advance(n);
}

FILCH_VOID_TASK(spawn_and_continue, uint64_t, child, uint64_t, meanwhile, uint64_t, after)
{
    FILCH_SPAWN(leaf, child);
    advance(meanwhile);
    FILCH_SYNC(leaf);
    advance(after);
}

static void the_longer_of_child_and_continuation_is_the_span(void **state)
{
    (void)state;
    start_with_span();
    FILCH_RUN(spawn_and_continue, 5, 20, 3);
    check_and_stop(28, 23);
    start_with_span();
    FILCH_RUN(spawn_and_continue, 20, 5, 3);
    check_and_stop(28, 23);
}

/* Each node takes 1 tick before its two children and 2 after them, each leaf 10. */
FILCH_TASK(uint64_t, tree, int, depth)
{
    uint64_t n;

    if (depth == 0) {
        advance(10);
        return 1;
    }
    advance(1);
    FILCH_SPAWN(tree, depth - 1);
    n = FILCH_CALL(tree, depth - 1);
    n += FILCH_SYNC(tree);
    advance(2);
    return n;
}

static void the_span_of_a_tree_is_its_depth(void **state)
{
    enum { DEPTH = 10, LEAVES = 1 << DEPTH, NODES = LEAVES - 1 };

    (void)state;
    start_with_span();
    CHECK_INT(FILCH_RUN(tree, DEPTH), LEAVES);
    check_and_stop(LEAVES * 10 + NODES * 3, 10 + DEPTH * 3);
}

/* Later tasks begin later. */
FILCH_VOID_TASK(flat, int, n, uint64_t, gap, uint64_t, each)
{
    for (int i = 0; i < n; i++) {
        advance(gap);
        FILCH_SPAWN(leaf, each);
    }
    for (int i = 0; i < n; i++)
        FILCH_SYNC(leaf);
}

static void later_spawns_start_later(void **state)
{
    (void)state;
    start_with_span();
    FILCH_RUN(flat, 3000, 1, 50);
    check_and_stop(153000, 3050);
}

static void external_runs_add_up(void **state)
{
    (void)state;
    start_with_span();
    FILCH_RUN(flat, 4, 0, 50);
    FILCH_RUN(flat, 4, 0, 60);
    check_and_stop(440, 110);
}

/* ---- loops ---- */

static void advance_range(size_t lo, size_t hi, void *ctx)
{
    (void)ctx;
    advance(hi - lo);
}

static void the_span_of_a_loop_is_its_grain(void **state)
{
    (void)state;
    start_with_span();
    filch_for(0, 4096, 16, advance_range, NULL);
    check_and_stop(4096, 16);
}

/* ---- groups ---- */

static void the_span_of_a_group_is_its_longest_member(void **state)
{
    filch_group g = FILCH_GROUP_INIT;

    (void)state;
    start_with_span();
    for (uintptr_t i = 1; i <= 5; i++)
        filch_group_run(&g, advance_in_body, ptr_of(i * 10));
    CHECK_INT(filch_group_wait(&g), 0);
    FILCH_RUN(leaf, 7);
    check_and_stop(157, 57);
}

/* Each member uses two groups, one after the other, at the same address. */
static void use_two_groups(void *arg)
{
    for (int part = 0; part < 2; part++) {
        filch_group g = FILCH_GROUP_INIT;
        filch_group_run(&g, advance_in_body, arg);
        filch_group_run(&g, advance_in_body, ptr_of(1));
        filch_group_wait(&g);
    }
}

static void groups_at_one_address_are_separate(void)
{
    filch_group g = FILCH_GROUP_INIT;

    start_with_span();
    filch_group_run(&g, use_two_groups, ptr_of(30));
    filch_group_run(&g, use_two_groups, ptr_of(40));
    filch_group_run(&g, use_two_groups, ptr_of(20));
    CHECK_INT(filch_group_wait(&g), 0);
    check_and_stop(186, 80);
}

/* Members of two groups run on one fiber.  The end of the first group is reported
 * only after the second has started.  The span of the second does not count for waiters of the
 * first. */
static filch_group early;
static filch_wait_group waiters;

static void wait_for_early(void *arg)
{
    (void)arg;
    filch_group_wait(&early);
    advance(1000);
    filch_wait_group_done(&waiters);
}

static void run_early(void *arg)
{
    (void)arg;
    filch_group_run(&early, advance_in_body, ptr_of(5));
    filch_go(wait_for_early, NULL);
}

/* The job runs before the late member, which is in the deque then.  So the early member is the
 * newer one there and runs first. */
static void run_early_and_late(void *arg)
{
    filch_group late = FILCH_GROUP_INIT;
    filch_job *first = filch_job_new(run_early, NULL);

    (void)arg;
    filch_job_set_priority(first, FILCH_PRIORITY_HIGH);
    filch_wait_group_add(&waiters, 1);
    filch_job_submit(first);
    filch_job_release(first);
    advance(100);
    filch_group_run(&late, advance_in_body, ptr_of(1));
    filch_group_wait(&late);
}

static void a_deferred_finish_has_its_original_span(void)
{
    filch_group g = FILCH_GROUP_INIT;

    start_with_span();
    filch_group_run(&g, run_early_and_late, NULL);
    filch_group_wait(&g);
    filch_wait_group_wait(&waiters);
    check_and_stop(1106, 1005);
}

static void groups_are_separate(void **state)
{
    (void)state;
    groups_at_one_address_are_separate();
    a_deferred_finish_has_its_original_span();
}

/* ---- jobs ---- */

static filch_job *job(uintptr_t n)
{
    filch_job *j = filch_job_new(advance_in_body, ptr_of(n));

    CHECK(j != NULL);
    return j;
}

static void a_job_starts_after_its_longest_dependency(void **state)
{
    filch_job *first, *left, *right, *last;

    (void)state;
    start_with_span();
    first = job(5), left = job(100), right = job(10), last = job(1);
    filch_job_after(left, first);
    filch_job_after(right, first);
    filch_job_after(last, left);
    filch_job_after(last, right);
    filch_job_submit(first);
    filch_job_submit(left);
    filch_job_submit(right);
    filch_job_submit(last);
    CHECK_INT(filch_job_wait(last), 0);
    filch_job_release(first), filch_job_release(left), filch_job_release(right);
    check_and_stop(116, 106);
}

static void a_parent_ends_with_its_children(void **state)
{
    filch_job *parent, *child[3];

    (void)state;
    start_with_span();
    parent = job(4);
    for (uintptr_t i = 0; i < 3; i++) {
        child[i] = job(10 * (i + 1));
        CHECK_INT(filch_job_set_parent(child[i], parent), 0);
        filch_job_submit(child[i]);
    }
    filch_job_submit(parent);
    CHECK_INT(filch_job_wait(parent), 0);
    FILCH_RUN(leaf, 2);
    check_and_stop(66, 32);
}

/* The first job is done before the dependency of the second on it is added. */
static void depend_on_done_job(void *arg)
{
    filch_job *first = filch_job_new(advance_in_body, ptr_of(10));
    filch_job *second = filch_job_new(advance_in_body, ptr_of(7));

    (void)arg;
    filch_job_submit(first);
    while (!filch_job_is_done(first))
        filch_yield();
    CHECK_INT(filch_job_then(first, second), 0);
    filch_job_wait(second);
    filch_job_release(first);
}

static void a_done_dependency_counts(void)
{
    filch_group g = FILCH_GROUP_INIT;

    start_with_span();
    filch_group_run(&g, depend_on_done_job, NULL);
    filch_group_wait(&g);
    check_and_stop(17, 17);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

/* The time of the pump's thread does not count, but a successor of its job starts after the job's
 * dependency. */
static void a_pump_job_passes_the_span_on(void)
{
    filch_pump pump = FILCH_PUMP_INIT;
    filch_job *first, *pumped, *last;

    start_with_span();
    first = filch_job_new(advance_in_body, ptr_of(10));
    pumped = filch_job_new(do_nothing, NULL);
    last = filch_job_new(advance_in_body, ptr_of(7));
    filch_job_set_pump(pumped, &pump);
    filch_job_then(first, pumped);
    filch_job_then(pumped, last);
    filch_job_submit(first);
    filch_pump_wait(&pump, last);
    filch_job_release(first), filch_job_release(pumped);
    check_and_stop(17, 17);
}

static void late_dependencies_and_pumps_count(void **state)
{
    (void)state;
    a_done_dependency_counts();
    a_pump_job_passes_the_span_on();
}

/* ---- fibers ---- */

static void *advance_in_fiber(void *n)
{
    advance((uintptr_t)n);
    return n;
}

/* The second fiber has ended when it is joined, so its end wakes no waiter. */
static void start_and_join(void *second)
{
    filch_fiber *a = filch_fiber_start(advance_in_fiber, ptr_of(30));
    filch_fiber *b = filch_fiber_start(advance_in_fiber, second);

    filch_fiber_join(a, NULL);
    filch_fiber_join(b, NULL);
    advance(5);
}

/* Fibers that have ended, one of them long, are joined in rng order: the table finds each entry
 * after others were removed. */
enum { JOINED = 450, ROUNDS = 40 };

static void shuffle(filch_fiber **handle, uint32_t *seed)
{
    for (uint32_t i = JOINED - 1; i > 0; i--) {
        uint32_t j = (*seed = *seed * 1664525u + 1013904223u) >> 8;
        filch_fiber *last = handle[i];
        handle[i] = handle[j % (i + 1)];
        handle[j % (i + 1)] = last;
    }
}

static int ended;

static void *advance_and_count(void *n)
{
    ended++;
    return advance_in_fiber(n);
}

static void join_many(void *seed)
{
    static filch_fiber *handle[JOINED];
    uint32_t rng = (uint32_t)(uintptr_t)seed;

    ended = 0;
    for (uint32_t i = 0; i < JOINED; i++)
        handle[i] = filch_fiber_start(advance_and_count, ptr_of(i == rng * 11 % JOINED ? 1000 : 1));
    while (ended < JOINED)
        filch_yield();
    shuffle(handle, &rng);
    for (int i = 0; i < JOINED; i++)
        filch_fiber_join(handle[i], NULL);
    advance(5000);
}

static filch_wait_group members;

static void advance_and_done(void *n)
{
    advance((uintptr_t)n);
    filch_wait_group_done(&members);
}

/* The newest fiber starts first, so the one that was started first ends the wait. */
static void start_and_wait(void *arg)
{
    const uintptr_t *each = arg;

    filch_wait_group_add(&members, 3);
    for (int i = 0; i < 3; i++)
        filch_go(advance_and_done, ptr_of(each[i]));
    filch_wait_group_wait(&members);
    advance(1);
}

static filch_chan *requests, *replies;

static void reply_all(void *arg)
{
    (void)arg;
    for (int n; filch_chan_recv(requests, &n) == 0;) {
        advance(10);
        filch_chan_send(replies, &n);
    }
}

/* Ten requests, each of which waits for its reply. */
static void request_all(void *arg)
{
    (void)arg;
    requests = filch_chan_new(sizeof(int), 0);
    replies = filch_chan_new(sizeof(int), 0);
    filch_go(reply_all, NULL);
    for (int i = 0, n; i < 10; i++) {
        advance(1);
        filch_chan_send(requests, &i);
        filch_chan_recv(replies, &n);
    }
    filch_chan_close(requests);
}

static void check_in_fiber(void (*body)(void *arg), void *arg, uint64_t work, uint64_t span)
{
    filch_group g = FILCH_GROUP_INIT;

    start_with_span();
    filch_group_run(&g, body, arg);
    filch_group_wait(&g);
    check_and_stop(work, span);
}

static void a_join_continues_after_the_longer_path(void **state)
{
    (void)state;
    check_in_fiber(start_and_join, ptr_of(20), 55, 35);
    check_in_fiber(start_and_join, ptr_of(40), 75, 45);
    for (uintptr_t round = 0; round < ROUNDS; round++)
        check_in_fiber(join_many, ptr_of(round), JOINED - 1 + 1000 + 5000, 6000);
}

static void a_wait_continues_after_the_longest_path(void **state)
{
    static uintptr_t longest_last[] = {30, 20, 10}, longest_first[] = {10, 20, 30};

    (void)state;
    check_in_fiber(start_and_wait, longest_last, 61, 31);
    check_in_fiber(start_and_wait, longest_first, 61, 31);
}

static void a_receive_continues_after_the_send(void **state)
{
    (void)state;
    check_in_fiber(request_all, NULL, 110, 110);
    filch_chan_free(requests);
    filch_chan_free(replies);
}

/* ---- the burden ---- */

static void each_stealable_task_adds_a_burden(void **state)
{
    fi_span_sums s;
    uint64_t burden;

    (void)state;
    start_with_span();
    FILCH_RUN(leaf, 0);
    CHECK_INT(filch_stop(), 0);
    setenv("FILCH_SCALE", "/dev/null", 1);
    setenv("FILCH_SCALE_BURDEN_NS", "1000", 1);
    CHECK_INT(filch_start(NULL), 0);
    FILCH_RUN(tree, 3);
    fi_span_read(&s);
    burden = (s.burdened_ticks - s.span_ticks) /
             4; /* the external run, and a spawn in each of three nodes */
    CHECK(burden > 0);
    CHECK_INT(s.burdened_ticks, s.span_ticks + 4 * burden);
    CHECK_INT(s.span_ticks, 19);
    CHECK_INT(filch_stop(), 0);
    unsetenv("FILCH_SCALE");
    unsetenv("FILCH_SCALE_BURDEN_NS");
}

/* ---- more than one runtime ---- */

static uint64_t slow_clock(void)
{
    return atomic_fetch_add(&ticks, 7) + 7;
}

static void each_start_measures_a_clock_read(void **state)
{
    fi_span_sums s;

    (void)state;
    for (int i = 0; i < 3; i++) {
        fi_span_clock = slow_clock;
        setenv("FILCH_SCALE", "/dev/null", 1);
        CHECK_INT(filch_start(NULL), 0);
        fi_span_read(&s);
        CHECK_INT(s.clock_read_ticks, 7);
        CHECK_INT(filch_stop(), 0);
    }
    unsetenv("FILCH_SCALE");
}

enum { MANY = 3000 }; /* more than the initial size of the table */

static filch_wait_group all_started, may_end;

static void start_and_park(void *none)
{
    (void)none;
    filch_wait_group_done(&all_started);
    filch_wait_group_wait(&may_end);
}

static void start_many(void)
{
    filch_wait_group_add(&all_started, MANY);
    filch_wait_group_add(&may_end, 1);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(filch_go(start_and_park, NULL), 0);
    filch_wait_group_wait(&all_started);
}

static int in_child(void)
{
    fi_span_sums s;

    alarm(600);
    FILCH_RUN(spawn_and_continue, 5, 20, 3);
    fi_span_read(&s);
    return filch_stop() == 0 && s.work_ticks == 28 && s.span_ticks == 23 ? 0 : 1;
}

static void a_fork_child_has_a_table_of_its_own(void)
{
    int status;
    pid_t child;

    start_with_span();
    start_many();
    fflush(NULL);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(in_child());
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    filch_wait_group_done(&may_end);
    check_and_stop(0, 0);
}

FILCH_VOID_TASK(fork_here, pid_t *, child)
{
    *child = fork();
}

FILCH_VOID_TASK(spawn_fork, pid_t *, child)
{
    FILCH_SPAWN(fork_here, child);
    FILCH_SYNC(fork_here);
    if (*child == 0)
        _exit(0);
}

static void a_task_that_forks_ends_in_both_processes(void)
{
    int status;
    pid_t child = -1;

    start_with_span();
    fflush(NULL);
    FILCH_RUN(spawn_fork, &child);
    CHECK(child > 0);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    check_and_stop(0, 0);
}

static void forks(void **state)
{
    (void)state;
    if (!children_can_have_threads())
        return;
    a_fork_child_has_a_table_of_its_own();
    a_task_that_forks_ends_in_both_processes();
}

CHECK_MAIN(the_longer_of_child_and_continuation_is_the_span, the_span_of_a_tree_is_its_depth,
           later_spawns_start_later, external_runs_add_up, the_span_of_a_loop_is_its_grain,
           the_span_of_a_group_is_its_longest_member, groups_are_separate,
           a_job_starts_after_its_longest_dependency, a_parent_ends_with_its_children,
           late_dependencies_and_pumps_count, a_join_continues_after_the_longer_path,
           a_wait_continues_after_the_longest_path, a_receive_continues_after_the_send,
           each_stealable_task_adds_a_burden, each_start_measures_a_clock_read, forks)
