/* A filter refuses system calls, as in a container, and the runtime does without them.  A runtime that is to pin its
 * workers and cannot learn the CPUs of the process starts, does not pin them, and says so in one line. */
#define _GNU_SOURCE
#include "unit/task/workers.h"

#include "base/topology_parts.h"
#include "fib.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of several filters the last one counts. */
static void refuse(unsigned call, unsigned error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
        syscall(call, 0, 0, NULL) < 0 && errno == (int)error)
        return;
    printf("skipped: this machine does not let us filter system calls\n");
    exit(77);
}

/* What filch_start writes to stderr. */
static void start_saying(char *text, size_t size)
{
    filch_config c = {.workers = 2, .pin = FILCH_PIN_CPU};
    FILE *said = tmpfile();
    int before = dup(STDERR_FILENO);
    size_t n;

    CHECK(said && before >= 0);
    dup2(fileno(said), STDERR_FILENO);
    CHECK_INT(filch_start(&c), 0);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(said);
    n = fread(text, 1, size - 1, said);
    text[n] = '\0';
    fclose(said);
}

static void check_start(void)
{
    char text[512];
    fi_topology t;

    start_saying(text, sizeof text);
    CHECK(strstr(text, "filch: pin=cpu: cannot read the CPUs of this process") != NULL);
    CHECK(strchr(text, '\n') == text + strlen(text) - 1);
    CHECK_INT(FILCH_RUN(fib, 15), 610);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_cpus(), 1);
    CHECK_INT(fi_topology_read("", &t), 0);
    fi_topology_fini(&t);
}

static void test_affinity_refused(void **state)
{
    static const unsigned errors[] = {EPERM, ENOSYS, EINVAL};

    (void)state;
#if FI_UNDER_ASAN || FI_UNDER_TSAN
    puts("skipped: a sanitizer asks for the mask itself when a thread begins");
    exit(77);
#endif
    for (int i = 0; i < 3; i++) {
        refuse(SYS_sched_getaffinity, errors[i]);
        check_start();
    }
}

#ifdef SYS_epoll_pwait2
static void read_in_vain(void *result)
{
    int fds[2];
    char byte;

    if (filch_pipe(fds) < 0)
        return;
    *(ssize_t *)result = filch_read_until(fds[0], &byte, 1, filch_now() + FILCH_MS(2));
    filch_close(fds[0]);
    filch_close(fds[1]);
}

/* A filter older than the call says EPERM, and not ENOSYS. */
static void test_epoll_pwait2_refused(void **state)
{
    ssize_t result = 0;

    (void)state;
    refuse(SYS_epoll_pwait2, EPERM);
    CHECK_INT(filch_main(read_in_vain, &result), 0);
    CHECK_INT(result, -ETIMEDOUT);
}
#else
#define test_epoll_pwait2_refused test_affinity_refused
#endif

CHECK_MAIN(test_epoll_pwait2_refused, test_affinity_refused)
