/* A set-uid program ignores the FILCH_* variables of its caller, which name files to be written.
 *
 * The test copies itself, makes the copy set-uid root, and runs that as another user. */
#include "check.h"
#include "fib.h"

#include "base/compiler.h"

#include <filch/runtime.h>

#include <fcntl.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, NOBODY = 65534 };

static const char precious[] = "precious\n";
static char folder[] = "/tmp/filch-secure-XXXXXX";
static char program[64], victim[64];

/* ---- the set-uid copy ---- */

static int run_copy(void)
{
    if (!getauxval(AT_SECURE))
        return SKIPPED;
    return FILCH_RUN(fib, 15) == 610 && filch_stop() == 0 ? 0 : 1;
}

/* ---- the test ---- */

static bool make_folder(void)
{
    if (!mkdtemp(folder) || chmod(folder, 0755) < 0)
        return false;
    snprintf(program, sizeof program, "%s/program", folder);
    snprintf(victim, sizeof victim, "%s/victim", folder);
    return true;
}

static void copy_program(void)
{
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int to = open(program, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    struct stat s;

    CHECK(from >= 0 && to >= 0 && fstat(from, &s) == 0);
    for (off_t left = s.st_size; left > 0;) {
        ssize_t n = sendfile(to, from, NULL, (size_t)left);
        CHECK(n > 0);
        left -= n;
    }
    CHECK_INT(fchmod(to, 04755), 0);
    close(from);
    close(to);
}

static void write_victim(void)
{
    int fd = open(victim, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK(fd >= 0);
    CHECK_INT(write(fd, precious, sizeof precious), sizeof precious);
    CHECK_INT(fchmod(fd, 0600), 0);
    close(fd);
}

static bool victim_is_unchanged(void)
{
    char text[64] = "";
    int fd = open(victim, O_RDONLY | O_CLOEXEC);
    struct stat s;
    bool whole = fd >= 0 && read(fd, text, sizeof text) == sizeof precious &&
                 strcmp(text, precious) == 0 && fstat(fd, &s) == 0 && (s.st_mode & 07777) == 0600;

    close(fd);
    return whole;
}

static int run_as_nobody(char *setting)
{
    char *argv[] = {program, (char *)"copy", NULL}, *env[] = {setting, NULL};
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        if (setgid(NOBODY) == 0 && setuid(NOBODY) == 0)
            execve(program, argv, env);
        _exit(2);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Returns 0 or SKIPPED. */
static int run_with_each_variable(void)
{
    static const char *const variables[] = {"FILCH_TRACE", "FILCH_SAMPLE", "FILCH_SCALE"};

    copy_program();
    write_victim();
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        char setting[128];
        int ended;
        snprintf(setting, sizeof setting, "%s=%s", variables[i], victim);
        ended = run_as_nobody(setting);
        if (ended == SKIPPED)
            return SKIPPED;
        CHECK_INT(ended, 0);
        printf("%s: %s\n", variables[i],
               victim_is_unchanged() ? "ignored" : "the victim was written");
        CHECK(victim_is_unchanged());
    }
    return 0;
}

static void remove_folder(void)
{
    unlink(program);
    unlink(victim);
    rmdir(folder);
}

static int skip_test(const char *why)
{
    printf("skipped: %s\n", why);
    return SKIPPED;
}

int main(int argc, char **argv)
{
    int ended;

    (void)argv;
    if (argc > 1)
        return run_copy();
#ifdef FILCH_EMULATED
    return skip_test("an emulated program cannot be set-uid");
#endif
    if (FI_UNDER_TSAN)
        return skip_test(
            "ThreadSanitizer needs a personality that a set-uid program does not keep");
    if (geteuid() != 0)
        return skip_test("only root can make a set-uid file of another user");
    if (!make_folder())
        return skip_test("cannot create a temporary directory");
    atexit(remove_folder);
    ended = run_with_each_variable();
    return ended == SKIPPED ? skip_test("set-uid has no effect in /tmp") : ended;
}
