/* filch_waitpid: children that have ended, run, are stopped, or are waited for by others. */
#include "unit/io/helpers.h"

#include <signal.h>
#include <sys/wait.h>

/* A child that ends with a code when it is told to. */
typedef struct child {
    pid_t pid;
    int tell;
} child;

static child child_start(int code)
{
    int fd[2];
    char c;
    child ch = {0};

    CHECK_INT(pipe(fd), 0);
    ch.pid = fork();
    CHECK(ch.pid >= 0);
    if (ch.pid == 0) {
        close(fd[1]);
        (void)!read(fd[0], &c, 1);
        _exit(code);
    }
    close(fd[0]);
    ch.tell = fd[1];
    fcntl(ch.tell, F_SETFD, FD_CLOEXEC);
    return ch;
}

/* Children that were forked later have this descriptor, too, so closing it is not enough. */
static void child_tell(child ch)
{
    CHECK_INT(write(ch.tell, "x", 1), 1);
    close(ch.tell);
}

/* The child has ended, and its status was not taken. */
static void child_await_end(child ch)
{
    siginfo_t info;

    child_tell(ch);
    CHECK_INT(waitid(P_PID, (id_t)ch.pid, &info, WEXITED | WNOWAIT), 0);
}

static void *wait_for(void *arg)
{
    const child *ch = arg;
    int status = -1;
    pid_t pid = filch_waitpid(ch->pid, &status, 0);

    return (void *)(intptr_t)(pid < 0 ? pid : WEXITSTATUS(status));
}

/* filch_dump merges fibers of one function. */
static void *wait_for_other(void *arg)
{
    return wait_for(arg);
}

static filch_fiber *start_waiting_in(void *(*body)(void *), child *ch)
{
    filch_fiber *f = filch_fiber_start(body, ch);
    char text[64];

    snprintf(text, sizeof text, "waits for process %ld,", (long)ch->pid);
    await_dump(text);
    return f;
}

static filch_fiber *start_waiting(child *ch)
{
    return start_waiting_in(wait_for, ch);
}

static intptr_t join(filch_fiber *f)
{
    void *result;

    CHECK_INT(filch_fiber_join(f, &result), 0);
    return (intptr_t)result;
}

/* ---- without a wait ---- */

static void *at_once_body(void *arg)
{
    child ch = child_start(3);
    int status = -1;

    (void)arg;
    CHECK_INT(filch_waitpid(ch.pid, &status, WNOHANG), 0);
    CHECK_INT(filch_waitpid_until(ch.pid, &status, 0, 0), -ETIMEDOUT);
    CHECK_INT(filch_waitpid_until(ch.pid, &status, 0, filch_now() + FILCH_MS(2)), -ETIMEDOUT);
    child_await_end(ch);
    CHECK_INT(filch_waitpid(ch.pid, &status, 0), ch.pid);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 3);
    CHECK_INT(filch_waitpid(ch.pid, &status, 0), -ECHILD);
    CHECK_INT(filch_waitpid(getpid(), NULL, 0), -ECHILD);
    CHECK_INT(filch_waitpid(-1, &status, 0), -EINVAL);
    CHECK_INT(filch_waitpid(0, &status, 0), -EINVAL);
    CHECK_INT(filch_waitpid(ch.pid, &status, 1 << 20), -EINVAL);
    return NULL;
}

static void at_once(void)
{
    on_fiber(at_once_body, NULL);
    in_thread(at_once_body, NULL);
}

/* ---- waits ---- */

static void two_children(void)
{
    child a = child_start(4), b = child_start(5);
    filch_fiber *fa = start_waiting(&a), *fb = start_waiting_in(wait_for_other, &b);

    child_tell(b);
    CHECK_INT(join(fb), 5);
    child_tell(a);
    CHECK_INT(join(fa), 4);
}

/* One fiber gets the status, and the other one an error. */
static void one_child_twice(void)
{
    child ch = child_start(6);
    filch_fiber *a = start_waiting(&ch), *b = filch_fiber_start(wait_for, &ch);
    intptr_t first, second;

    await_dump("2 fibers like this");
    child_tell(ch);
    first = join(a);
    second = join(b);
    CHECK(first == 6 || second == 6);
    CHECK(first == -ECHILD || second == -ECHILD);
}

static void cancelled(void)
{
    child ch = child_start(7);
    filch_fiber *f = start_waiting(&ch);

    filch_fiber_cancel(f);
    CHECK_INT(join(f), -ECANCELED);
    child_tell(ch);
    CHECK_INT(filch_waitpid(ch.pid, NULL, 0), ch.pid);
}

static void *wait_until_soon(void *arg)
{
    const child *ch = arg;
    int status;

    CHECK_INT(filch_waitpid_until(ch->pid, &status, 0, filch_now() + FILCH_S(60)), ch->pid);
    CHECK(WIFSIGNALED(status));
    return (void *)(intptr_t)WTERMSIG(status);
}

static void killed(void)
{
    child ch = child_start(0);

    CHECK_INT(kill(ch.pid, SIGKILL), 0);
    CHECK_INT((intptr_t)on_fiber(wait_until_soon, &ch), SIGKILL);
    close(ch.tell);
    ch = child_start(0);
    CHECK_INT(kill(ch.pid, SIGKILL), 0);
    CHECK_INT((intptr_t)in_thread(wait_until_soon, &ch), SIGKILL);
    close(ch.tell);
}

static void *wait_for_stop(void *arg)
{
    const child *ch = arg;
    int status = -1;

    CHECK_INT(filch_waitpid(ch->pid, &status, WUNTRACED), ch->pid);
    return (void *)(intptr_t)(WIFSTOPPED(status) ? WSTOPSIG(status) : -1);
}

static void stopped(void)
{
    child ch = child_start(0);
    filch_fiber *f = filch_fiber_start(wait_for_stop, &ch);

    await_dump("waits for process");
    CHECK_INT(kill(ch.pid, SIGSTOP), 0);
    CHECK_INT(join(f), SIGSTOP);
    CHECK_INT(kill(ch.pid, SIGCONT), 0);
    child_tell(ch);
    CHECK_INT(filch_waitpid(ch.pid, NULL, 0), ch.pid);
}

/* The kernel takes the status of a child whose parent ignores SIGCHLD. */
static void ignored(void)
{
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    child ch = child_start(8);
    filch_fiber *f = start_waiting(&ch);

    child_tell(ch);
    CHECK_INT(join(f), -ECHILD);
    signal(SIGCHLD, before);
}

/* Children end while fibers begin to wait. */
static void race(void)
{
    enum { CHILDREN = 8, ROUNDS = 5 };
    filch_fiber *f[CHILDREN];
    child ch[CHILDREN];

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CHILDREN; i++) {
            ch[i] = child_start(i);
            f[i] = filch_fiber_start(wait_for, &ch[i]);
        }
        for (int i = 0; i < CHILDREN; i++)
            child_tell(ch[i]);
        for (int i = 0; i < CHILDREN; i++)
            CHECK_INT(join(f[i]), i);
    }
}

WITH_WORKERS(at_once)
WITH_WORKERS(two_children)
WITH_WORKERS(one_child_twice)
WITH_WORKERS(cancelled)
WITH_WORKERS(killed)
WITH_WORKERS(stopped)
WITH_WORKERS(ignored)
WITH_WORKERS(race)

CHECK_MAIN(test_at_once, test_two_children, test_one_child_twice, test_cancelled, test_killed,
           test_stopped, test_ignored, test_race)
