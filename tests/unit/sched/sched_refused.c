/* A runtime that is to pin its workers and cannot read the CPUs of the process starts without
 * pinning them and prints one line. */
#define _GNU_SOURCE
#include "unit/task/helpers.h"

#include "fib.h"
#include "refuse.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* qemu accepts a filter but does not apply it. */
static void refuse_affinity(unsigned error)
{
    if (refuse_call(SYS_sched_getaffinity, error) &&
        syscall(SYS_sched_getaffinity, 0, 0, NULL) < 0 && errno == (int)error)
        return;
    printf("skipped: the kernel does not support seccomp filters\n");
    exit(77);
}

/* The output of filch_start on stderr. */
static void start_and_capture(char *text, size_t size)
{
    filch_config c = {.workers = 2, .affinity = FILCH_AFFINITY_CPU};
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

    start_and_capture(text, sizeof text);
    CHECK(strstr(text, "filch: affinity=cpu: cannot read the CPUs of this process") != NULL);
    CHECK(strchr(text, '\n') == text + strlen(text) - 1);
    CHECK_INT(FILCH_RUN(fib, 15), 610);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_cpu_count(), 1);
}

static void test_affinity_refused(void **state)
{
    static const unsigned errors[] = {EPERM, ENOSYS, EINVAL};

    (void)state;
#if FI_UNDER_ASAN || FI_UNDER_TSAN
    puts("skipped: a sanitizer reads the CPU mask itself when a thread starts");
    exit(77);
#endif
    for (int i = 0; i < 3; i++) {
        refuse_affinity(errors[i]);
        check_start();
    }
}

CHECK_MAIN(test_affinity_refused)
