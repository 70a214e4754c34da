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

static uint64_t clock_of_ours(void)
{
    return ticks;
}

static void burn(uint64_t n)
{
    ticks += n;
}

static void burn_in_body(void *n)
{
    burn((uintptr_t)n);
}

static void *of(uintptr_t n)
{
    return (void *)n;
}

static void begin(void)
{
    fi_span_clock = clock_of_ours;
    setenv("FILCH_SCALE", "/dev/null", 1);
    setenv("FILCH_SCALE_BURDEN_NS", "0", 1);
    CHECK_INT(filch_start(&(filch_config){.workers = 4}), 0);
    CHECK_INT(filch_worker_count(), 1);
}

static void end_with(uint64_t work, uint64_t span)
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
    burn(n);
}

FILCH_VOID_TASK(child_is_shorter, uint64_t, child, uint64_t, meanwhile, uint64_t, after)
{
    FILCH_SPAWN(leaf, child);
    burn(meanwhile);
    FILCH_SYNC(leaf);
    burn(after);
}

static void what_is_beside_a_task_counts_if_it_is_longer(void **state)
{
    (void)state;
    begin();
    FILCH_RUN(child_is_shorter, 5, 20, 3);
    end_with(28, 23);
    begin();
    FILCH_RUN(child_is_shorter, 20, 5, 3);
    end_with(28, 23);
}

/* Each node burns 1 before its two children and 2 after them, each leaf 10. */
FILCH_TASK(uint64_t, tree, int, depth)
{
    uint64_t n;

    if (depth == 0) {
        burn(10);
        return 1;
    }
    burn(1);
    FILCH_SPAWN(tree, depth - 1);
    n = FILCH_CALL(tree, depth - 1);
    n += FILCH_SYNC(tree);
    burn(2);
    return n;
}

static void a_tree_is_as_long_as_it_is_deep(void **state)
{
    enum { DEPTH = 10, LEAVES = 1 << DEPTH, NODES = LEAVES - 1 };

    (void)state;
    begin();
    CHECK_INT(FILCH_RUN(tree, DEPTH), LEAVES);
    end_with(LEAVES * 10 + NODES * 3, 10 + DEPTH * 3);
}

/* Later tasks begin later. */
FILCH_VOID_TASK(flat, int, n, uint64_t, gap, uint64_t, each)
{
    for (int i = 0; i < n; i++) {
        burn(gap);
        FILCH_SPAWN(leaf, each);
    }
    for (int i = 0; i < n; i++)
        FILCH_SYNC(leaf);
}

static void tasks_side_by_side_begin_one_after_the_other(void **state)
{
    (void)state;
    begin();
    FILCH_RUN(flat, 3000, 1, 50);
    end_with(153000, 3050);
}

static void runs_from_outside_follow_each_other(void **state)
{
    (void)state;
    begin();
    FILCH_RUN(flat, 4, 0, 50);
    FILCH_RUN(flat, 4, 0, 60);
    end_with(440, 110);
}

/* ---- loops ---- */

static void burn_range(size_t lo, size_t hi, void *ctx)
{
    (void)ctx;
    burn(hi - lo);
}

static void a_loop_is_as_long_as_its_grain(void **state)
{
    (void)state;
    begin();
    filch_for(0, 4096, 16, burn_range, NULL);
    end_with(4096, 16);
}

/* ---- groups ---- */

static void a_group_is_as_long_as_its_longest(void **state)
{
    filch_group g = FILCH_GROUP_INIT;

    (void)state;
    begin();
    for (uintptr_t i = 1; i <= 5; i++)
        filch_group_run(&g, burn_in_body, of(i * 10));
    CHECK_INT(filch_group_wait(&g), 0);
    FILCH_RUN(leaf, 7);
    end_with(157, 57);
}

/* Two parts, one after the other, in each of two that are side by side: their groups lie at one address. */
static void in_parts(void *arg)
{
    for (int part = 0; part < 2; part++) {
        filch_group g = FILCH_GROUP_INIT;
        filch_group_run(&g, burn_in_body, arg);
        filch_group_run(&g, burn_in_body, of(1));
        filch_group_wait(&g);
    }
}

static void groups_at_one_address_are_not_one(void)
{
    filch_group g = FILCH_GROUP_INIT;

    begin();
    filch_group_run(&g, in_parts, of(30));
    filch_group_run(&g, in_parts, of(40));
    filch_group_run(&g, in_parts, of(20));
    CHECK_INT(filch_group_wait(&g), 0);
    end_with(186, 80);
}

/* Members of two groups run on one fiber.  The end of the early one is counted when the late one has
 * begun, and the path of the late one does not matter to the waiter of the early group. */
static filch_group early;
static filch_wait_group waiters;

static void wait_for_early(void *arg)
{
    (void)arg;
    filch_group_wait(&early);
    burn(1000);
    filch_wait_group_done(&waiters);
}

static void give_early(void *arg)
{
    (void)arg;
    filch_group_run(&early, burn_in_body, of(5));
    filch_go(wait_for_early, NULL);
}

/* The job runs before the late member, which is in the deque then.  So the early member is the
 * newer one there and runs first. */
static void give_early_and_late(void *arg)
{
    filch_group late = FILCH_GROUP_INIT;
    filch_job *first = filch_job_new(give_early, NULL);

    (void)arg;
    filch_job_set_priority(first, FILCH_PRIORITY_HIGH);
    filch_wait_group_add(&waiters, 1);
    filch_job_submit(first);
    filch_job_release(first);
    burn(100);
    filch_group_run(&late, burn_in_body, of(1));
    filch_group_wait(&late);
}

static void what_is_said_late_is_said_as_of_then(void)
{
    filch_group g = FILCH_GROUP_INIT;

    begin();
    filch_group_run(&g, give_early_and_late, NULL);
    filch_group_wait(&g);
    filch_wait_group_wait(&waiters);
    end_with(1106, 1005);
}

static void groups_are_told_apart(void **state)
{
    (void)state;
    groups_at_one_address_are_not_one();
    what_is_said_late_is_said_as_of_then();
}

/* ---- jobs ---- */

static filch_job *job(uintptr_t n)
{
    filch_job *j = filch_job_new(burn_in_body, of(n));

    CHECK(j != NULL);
    return j;
}

static void jobs_follow_the_longest_before_them(void **state)
{
    filch_job *first, *left, *right, *last;

    (void)state;
    begin();
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
    end_with(116, 106);
}

static void a_parent_ends_with_its_children(void **state)
{
    filch_job *parent, *child[3];

    (void)state;
    begin();
    parent = job(4);
    for (uintptr_t i = 0; i < 3; i++) {
        child[i] = job(10 * (i + 1));
        CHECK_INT(filch_job_set_parent(child[i], parent), 0);
        filch_job_submit(child[i]);
    }
    filch_job_submit(parent);
    CHECK_INT(filch_job_wait(parent), 0);
    FILCH_RUN(leaf, 2);
    end_with(66, 32);
}

/* The first is over before anybody says that the second comes after it. */
static void after_one_that_is_done(void *arg)
{
    filch_job *first = filch_job_new(burn_in_body, of(10));
    filch_job *second = filch_job_new(burn_in_body, of(7));

    (void)arg;
    filch_job_submit(first);
    while (!filch_job_is_done(first))
        filch_yield();
    CHECK_INT(filch_job_then(first, second), 0);
    filch_job_wait(second);
    filch_job_release(first);
}

static void a_job_that_is_done_comes_before_all_the_same(void)
{
    filch_group g = FILCH_GROUP_INIT;

    begin();
    filch_group_run(&g, after_one_that_is_done, NULL);
    filch_group_wait(&g);
    end_with(17, 17);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

/* The time of the thread does not count, but what comes after its job comes after the one before that. */
static void a_pump_is_a_link_of_the_chain(void)
{
    filch_pump pump = FILCH_PUMP_INIT;
    filch_job *first, *pumped, *last;

    begin();
    first = filch_job_new(burn_in_body, of(10));
    pumped = filch_job_new(do_nothing, NULL);
    last = filch_job_new(burn_in_body, of(7));
    filch_job_set_pump(pumped, &pump);
    filch_job_then(first, pumped);
    filch_job_then(pumped, last);
    filch_job_submit(first);
    filch_pump_wait(&pump, last);
    filch_job_release(first), filch_job_release(pumped);
    end_with(17, 17);
}

static void jobs_follow_also_by_other_ways(void **state)
{
    (void)state;
    a_job_that_is_done_comes_before_all_the_same();
    a_pump_is_a_link_of_the_chain();
}

/* ---- fibers ---- */

static void *burn_in_fiber(void *n)
{
    burn((uintptr_t)n);
    return n;
}

/* The second is over when it is joined, and nobody is woken by it. */
static void start_and_join(void *second)
{
    filch_fiber *a = filch_fiber_start(burn_in_fiber, of(30));
    filch_fiber *b = filch_fiber_start(burn_in_fiber, second);

    filch_fiber_join(a, NULL);
    filch_fiber_join(b, NULL);
    burn(5);
}

/* Many that have ended, of which one was long, are joined in any order: the book finds each page, whichever were torn out
 * before. */
enum { JOINED = 450, ROUNDS = 40 };

static void mix(filch_fiber **handle, uint32_t *seed)
{
    for (uint32_t i = JOINED - 1; i > 0; i--) {
        uint32_t j = (*seed = *seed * 1664525u + 1013904223u) >> 8;
        filch_fiber *last = handle[i];
        handle[i] = handle[j % (i + 1)];
        handle[j % (i + 1)] = last;
    }
}

static int ended;

static void *burn_and_count(void *n)
{
    ended++;
    return burn_in_fiber(n);
}

static void join_many(void *seed)
{
    static filch_fiber *handle[JOINED];
    uint32_t luck = (uint32_t)(uintptr_t)seed;

    ended = 0;
    for (uint32_t i = 0; i < JOINED; i++)
        handle[i] = filch_fiber_start(burn_and_count, of(i == luck * 11 % JOINED ? 1000 : 1));
    while (ended < JOINED)
        filch_yield();
    mix(handle, &luck);
    for (int i = 0; i < JOINED; i++)
        filch_fiber_join(handle[i], NULL);
    burn(5000);
}

static filch_wait_group crew;

static void work_in_crew(void *n)
{
    burn((uintptr_t)n);
    filch_wait_group_done(&crew);
}

/* The newest begins first, so it is the first that is sent who ends it. */
static void send_and_wait(void *arg)
{
    const uintptr_t *each = arg;

    filch_wait_group_add(&crew, 3);
    for (int i = 0; i < 3; i++)
        filch_go(work_in_crew, of(each[i]));
    filch_wait_group_wait(&crew);
    burn(1);
}

static filch_chan *there, *back;

static void answer_all(void *arg)
{
    (void)arg;
    for (int n; filch_chan_recv(there, &n) == 0;) {
        burn(10);
        filch_chan_send(back, &n);
    }
}

/* Ten calls, each of which waits for its answer. */
static void call_all(void *arg)
{
    (void)arg;
    there = filch_chan_new(sizeof(int), 0);
    back = filch_chan_new(sizeof(int), 0);
    filch_go(answer_all, NULL);
    for (int i = 0, n; i < 10; i++) {
        burn(1);
        filch_chan_send(there, &i);
        filch_chan_recv(back, &n);
    }
    filch_chan_close(there);
}

static void in_a_fiber(void (*body)(void *arg), void *arg, uint64_t work, uint64_t span)
{
    filch_group g = FILCH_GROUP_INIT;

    begin();
    filch_group_run(&g, body, arg);
    filch_group_wait(&g);
    end_with(work, span);
}

static void who_joins_goes_on_after_the_longer(void **state)
{
    (void)state;
    in_a_fiber(start_and_join, of(20), 55, 35);
    in_a_fiber(start_and_join, of(40), 75, 45);
    for (uintptr_t round = 0; round < ROUNDS; round++)
        in_a_fiber(join_many, of(round), JOINED - 1 + 1000 + 5000, 6000);
}

static void who_waits_for_many_goes_on_after_the_longest(void **state)
{
    static uintptr_t longest_last[] = {30, 20, 10}, longest_first[] = {10, 20, 30};

    (void)state;
    in_a_fiber(send_and_wait, longest_last, 61, 31);
    in_a_fiber(send_and_wait, longest_first, 61, 31);
}

static void who_is_answered_goes_on_after_the_answer(void **state)
{
    (void)state;
    in_a_fiber(call_all, NULL, 110, 110);
    filch_chan_free(there);
    filch_chan_free(back);
}

/* ---- the burden ---- */

static void what_could_be_taken_carries_a_burden(void **state)
{
    fi_span_sums s;
    uint64_t burden;

    (void)state;
    begin();
    FILCH_RUN(leaf, 0);
    CHECK_INT(filch_stop(), 0);
    setenv("FILCH_SCALE", "/dev/null", 1);
    setenv("FILCH_SCALE_BURDEN_NS", "1000", 1);
    CHECK_INT(filch_start(NULL), 0);
    FILCH_RUN(tree, 3);
    fi_span_read(&s);
    burden = (s.burdened_ticks - s.span_ticks) /
             4; /* from outside, and a spawn in each of three nodes */
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

static void each_finds_how_long_a_look_takes(void **state)
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

enum { MANY = 3000 }; /* more than there are pages at first */

static filch_wait_group all_here, may_end;

static void come_and_wait(void *none)
{
    (void)none;
    filch_wait_group_done(&all_here);
    filch_wait_group_wait(&may_end);
}

static void make_many(void)
{
    filch_wait_group_add(&all_here, MANY);
    filch_wait_group_add(&may_end, 1);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(filch_go(come_and_wait, NULL), 0);
    filch_wait_group_wait(&all_here);
}

static int in_child(void)
{
    fi_span_sums s;

    alarm(600);
    FILCH_RUN(child_is_shorter, 5, 20, 3);
    fi_span_read(&s);
    return filch_stop() == 0 && s.work_ticks == 28 && s.span_ticks == 23 ? 0 : 1;
}

static void a_child_begins_a_book_of_its_own(void)
{
    int status;
    pid_t child;

    begin();
    make_many();
    fflush(NULL);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(in_child());
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    filch_wait_group_done(&may_end);
    end_with(0, 0);
}

FILCH_VOID_TASK(fork_here, pid_t *, child)
{
    *child = fork();
}

FILCH_VOID_TASK(spawns_who_forks, pid_t *, child)
{
    FILCH_SPAWN(fork_here, child);
    FILCH_SYNC(fork_here);
    if (*child == 0)
        _exit(0);
}

static void a_task_that_forks_ends_in_both(void)
{
    int status;
    pid_t child = -1;

    begin();
    fflush(NULL);
    FILCH_RUN(spawns_who_forks, &child);
    CHECK(child > 0);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    end_with(0, 0);
}

static void forks(void **state)
{
    (void)state;
    if (!children_may_have_threads())
        return;
    a_child_begins_a_book_of_its_own();
    a_task_that_forks_ends_in_both();
}

CHECK_MAIN(what_is_beside_a_task_counts_if_it_is_longer, a_tree_is_as_long_as_it_is_deep,
           tasks_side_by_side_begin_one_after_the_other, runs_from_outside_follow_each_other,
           a_loop_is_as_long_as_its_grain, a_group_is_as_long_as_its_longest, groups_are_told_apart,
           jobs_follow_the_longest_before_them, a_parent_ends_with_its_children,
           jobs_follow_also_by_other_ways, who_joins_goes_on_after_the_longer,
           who_waits_for_many_goes_on_after_the_longest, who_is_answered_goes_on_after_the_answer,
           what_could_be_taken_carries_a_burden, each_finds_how_long_a_look_takes, forks)
