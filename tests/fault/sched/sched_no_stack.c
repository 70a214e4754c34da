/* Fibers without memory for a stack.  A start with a stack size of its own returns -ENOMEM.  Other
 * fibers wait for memory.  If none becomes free, a message gives their number. */
#include "child.h"
#include "unit/task/helpers.h"

#include <errno.h>
#include <filch/filch.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define MB     ((rlim_t)1 << 20)
#define FIBERS 400 /* more than the stacks that are mapped at once */

static bool can_be_limited(void)
{
#ifdef FILCH_EMULATED
    puts("skipped: the limit includes the memory of the emulator");
    return false;
#else
    if (FI_UNDER_ASAN || FI_UNDER_TSAN)
        puts("skipped: a sanitizer needs an unlimited address space");
    return !FI_UNDER_ASAN && !FI_UNDER_TSAN;
#endif
}

/* Limit the address space to the current size and this much more. */
static void limit(rlim_t bytes)
{
    struct rlimit r;
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (!f || fscanf(f, "%lu", &pages) != 1 || getrlimit(RLIMIT_AS, &r) != 0)
        _exit(3);
    fclose(f);
    r.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
    if (setrlimit(RLIMIT_AS, &r) != 0)
        _exit(3);
}

static void unlimit(void)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_AS, &r) != 0)
        _exit(3);
    r.rlim_cur = r.rlim_max;
    if (setrlimit(RLIMIT_AS, &r) != 0)
        _exit(3);
}

static void start(unsigned workers, rlim_t bytes)
{
    const filch_config c = {.workers = workers, .deadlock = FILCH_DEADLOCK_OFF};

    alarm(60);
    if (filch_start(&c) < 0)
        _exit(3);
    limit(bytes);
}

static void exits_with_0(void (*fn)(void *), void *arg)
{
    struct child_end end;

    CHECK_INT(child_end_of(&end, fn, arg), 0);
    if (end.status != 0)
        fprintf(stderr, "status %#x, said: %s\n", (unsigned)end.status, end.text);
    CHECK_INT(end.status, 0);
}

/* ---- fibers with a stack size of their own ---- */

static void add_one(void *n)
{
    atomic_fetch_add((atomic_int *)n, 1);
}

static void *return_arg(void *arg)
{
    return arg;
}

static void start_large(void *workers)
{
    const filch_fiber_attr large = {.stack_size = (size_t)1 << 30}, small = {.stack_size = 65536};
    atomic_int n = 0;
    filch_fiber *f;
    void *result = NULL;

    start(*(unsigned *)workers, 100 * MB);
    if (filch_go_attr(&large, add_one, &n) != -ENOMEM ||
        filch_fiber_start_attr(&large, return_arg, &n))
        _exit(4);
    if (filch_go_attr(&small, add_one, &n) != 0)
        _exit(5);
    f = filch_fiber_start_attr(&small, return_arg, &n);
    if (!f || filch_fiber_join(f, &result) != 0 || result != &n)
        _exit(6);
    unlimit();
    if (filch_go_attr(&large, add_one, &n) != 0 || filch_stop() != 0 || atomic_load(&n) != 2)
        _exit(7);
}

static void large_stacks_are_reserved(void **state)
{
    (void)state;
    if (!can_be_limited())
        return;
    for (unsigned n = 1; n <= 4; n *= 2)
        exits_with_0(start_large, &n);
}

/* The start fails, not the first fiber. */
static void start_runtime(void *arg)
{
    const filch_config c = {.workers = 2, .stack_size = (size_t)1 << 30};

    (void)arg;
    limit(600 * MB);
    if (filch_start(&c) != -ENOMEM || filch_worker_count() != 0)
        _exit(4);
}

static void a_runtime_without_a_stack_does_not_start(void **state)
{
    (void)state;
    if (can_be_limited())
        exits_with_0(start_runtime, NULL);
}

/* ---- fibers with the default stack size ---- */

static filch_sem gate = FILCH_SEM_INIT(0);
static atomic_int *waiting; /* shared with the parent */

static void wait_for_gate(void *arg)
{
    (void)arg;
    atomic_fetch_add(waiting, 1);
    filch_sem_wait(&gate);
}

static void start_fibers(void)
{
    for (int i = 0; i < FIBERS; i++)
        if (filch_go(wait_for_gate, NULL) < 0)
            _exit(4);
}

/* A fiber that ends frees its stack for another. */
static void fibers_end(void *workers)
{
    start(*(unsigned *)workers, 4 * MB);
    start_fibers();
    for (int i = 0; i < FIBERS; i++)
        filch_sem_post(&gate);
    if (filch_stop() != 0 || atomic_load(waiting) != FIBERS)
        _exit(5);
}

/* No fiber ends, but the process gets more memory. */
static void limit_is_raised(void *workers)
{
    start(*(unsigned *)workers, 4 * MB);
    start_fibers();
    while (atomic_load(waiting) < 50)
        sched_yield();
    unlimit();
    while (atomic_load(waiting) < FIBERS)
        sched_yield();
    for (int i = 0; i < FIBERS; i++)
        filch_sem_post(&gate);
    if (filch_stop() != 0)
        _exit(5);
}

FILCH_TASK(int, same, int, n)
{
    return n;
}

static atomic_int jobs_run;
static atomic_bool may_run;

static void run_job(void *arg)
{
    (void)arg;
    atomic_fetch_add(&jobs_run, 1);
}

static void *run_all_kinds(void *arg)
{
    filch_group g = FILCH_GROUP_INIT;
    filch_job *j;

    (void)arg;
    while (!atomic_load(&may_run))
        sched_yield();
    j = filch_job_new(run_job, NULL);
    if (!j || filch_job_submit(j) < 0 || filch_group_run(&g, run_job, NULL) < 0)
        _exit(6);
    if (FILCH_RUN(same, 5) != 5)
        _exit(7);
    if (filch_group_wait(&g) < 0 || filch_job_wait(j) < 0)
        _exit(8);
    return NULL;
}

/* Tasks, jobs and group members wait in the same way. */
static void other_work_waits_too(void *workers)
{
    pthread_t t;

    if (pthread_create(&t, NULL, run_all_kinds, NULL) != 0)
        _exit(3);
    start(*(unsigned *)workers, 4 * MB);
    start_fibers();
    atomic_store(&may_run, true);
    for (int i = 0; i < FIBERS; i++)
        filch_sem_post(&gate);
    unlimit(); /* the task needs a task stack as well */
    pthread_join(t, NULL);
    if (filch_stop() != 0 || atomic_load(&jobs_run) != 2 || atomic_load(waiting) != FIBERS)
        _exit(5);
}

static void share_count(void)
{
    if (!waiting)
        waiting =
            mmap(NULL, sizeof *waiting, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(waiting != MAP_FAILED);
    atomic_store(waiting, 0);
}

static void work_waits_for_memory(void **state)
{
    (void)state;
    if (!can_be_limited())
        return;
    for (unsigned n = 1; n <= 4; n *= 2) {
        share_count();
        exits_with_0(fibers_end, &n);
        share_count();
        exits_with_0(limit_is_raised, &n);
        share_count();
        exits_with_0(other_work_waits_too, &n);
    }
}

/* ---- no memory becomes free ---- */

static void stop_without_memory(void *workers)
{
    start(*(unsigned *)workers, 4 * MB);
    start_fibers();
    filch_stop();
}

/* The number of waiting fibers that the child reports before it is killed; 0: no report.  Other
 * messages may come first. */
static int count_reported(void (*fn)(void *), void *arg)
{
    int ends[2], status, n = 0;
    char line[512];
    pid_t pid;
    FILE *f;

    fflush(NULL);
    CHECK_INT(pipe(ends), 0);
    pid = fork();
    if (pid == 0)
        child_run(ends[1], fn, arg);
    close(ends[1]);
    f = fdopen(ends[0], "r");
    CHECK(pid > 0 && f);
    while (n == 0 && fgets(line, sizeof line, f)) {
        printf("%s", line);
        (void)sscanf(line, "filch: %d fibers wait for memory", &n);
    }
    kill(pid, SIGKILL);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    fclose(f);
    return n;
}

static void the_number_of_waiting_fibers_is_reported(void **state)
{
    (void)state;
    if (!can_be_limited())
        return;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        share_count();
        int n = count_reported(stop_without_memory, &workers);
        CHECK(n > 0);
        CHECK_INT(n + atomic_load(waiting), FIBERS);
    }
}

CHECK_MAIN(large_stacks_are_reserved, a_runtime_without_a_stack_does_not_start,
           work_waits_for_memory, the_number_of_waiting_fibers_is_reported)
