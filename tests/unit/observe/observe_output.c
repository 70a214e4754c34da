/* The files that FILCH_TRACE, FILCH_SAMPLE and FILCH_SCALE write: only the requested one, with
 * its permissions.  The program goes on if it cannot be written.  Each case is a process of its
 * own, as a signal may end it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"
#include "fib.h"
#include "unit/ctx/child.h"

#include <filch/runtime.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

enum { SETTINGS = 3, LONG_S = 250 };

static const char *const settings[SETTINGS] = {"FILCH_TRACE", "FILCH_SAMPLE", "FILCH_SCALE"};
static const char precious[] = "precious\n";

static char folder[] = "/tmp/filch-output-XXXXXX";
static char target[64], victim[64];

/* ---- files ---- */

static void write_file(const char *path, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK(fd >= 0);
    CHECK_INT(write(fd, precious, sizeof precious), sizeof precious);
    CHECK_INT(fchmod(fd, mode), 0);
    close(fd);
}

static bool is_precious(const char *path)
{
    char text[64] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof text);

    close(fd);
    return n == (ssize_t)sizeof precious && strcmp(text, precious) == 0;
}

static int mode_of(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 ? (int)(s.st_mode & 07777) : -1;
}

/* How many there are besides the victim; those are removed. */
static int clean(void)
{
    DIR *d = opendir(folder);
    int n = 0;

    CHECK(d != NULL);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.' && strcmp(e->d_name, "victim") != 0) {
            CHECK_INT(unlinkat(dirfd(d), e->d_name, 0), 0);
            n++;
        }
    closedir(d);
    return n;
}

/* ---- processes ---- */

/* A program that hangs is ended by SIGALRM. */
static void run(void)
{
    alarm(LONG_S);
    if (FILCH_RUN(fib, 15) != 610 || filch_stop() < 0)
        _exit(3);
}

static struct child_end ends_well(const char *setting, const char *value, void (*fn)(void *))
{
    struct child_end end;

    setenv(setting, value, 1);
    CHECK_INT(child_end_of(&end, fn, NULL), 0);
    unsetenv(setting);
    if (end.status != 0)
        fprintf(stderr, "%s=%s: status %#x, said: %s\n", setting, value, (unsigned)end.status,
                end.text);
    CHECK_INT(end.status, 0);
    return end;
}

static void just_run(void *arg)
{
    (void)arg;
    run();
}

static void says(const struct child_end *end, const char *setting, const char *why)
{
    char line[256];

    snprintf(line, sizeof line, "filch: %s: cannot write %s: %s\n", setting, target, why);
    CHECK_STR(end->text, line);
}

/* ---- which file ---- */

static void rights_are_kept(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        write_file(target, 0600);
        CHECK_STR(ends_well(settings[i], target, just_run).text, "");
        CHECK(!is_precious(target));
        CHECK_INT(mode_of(target), 0600);
        CHECK_INT(clean(), 1);
    }
}

static void a_new_file_is_like_any_other(void **state)
{
    mode_t before = umask(027);

    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        CHECK_STR(ends_well(settings[i], target, just_run).text, "");
        CHECK_INT(mode_of(target), 0640);
        CHECK_INT(clean(), 1);
    }
    umask(before);
}

/* An attacker may know the temporary name of the file. */
static void run_over_link(void *arg)
{
    char link[96];

    (void)arg;
    snprintf(link, sizeof link, "%s.%ld", target, (long)getpid());
    if (symlink(victim, link) < 0)
        _exit(3);
    run();
}

static void links_beside_it_are_not_followed(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        write_file(victim, 0600);
        ends_well(settings[i], target, run_over_link);
        CHECK(is_precious(victim));
        clean();
    }
}

/* The name may be a link, whose file is written; the link stays. */
static void a_link_stays_one(void **state)
{
    struct stat s;

    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        write_file(victim, 0640);
        CHECK_INT(symlink(victim, target), 0);
        CHECK_STR(ends_well(settings[i], target, just_run).text, "");
        CHECK(!is_precious(victim));
        CHECK_INT(mode_of(victim), 0640);
        CHECK(lstat(target, &s) == 0 && S_ISLNK(s.st_mode));
        CHECK_INT(clean(), 1);
    }
}

/* As in daemons, all descriptors are closed, and their numbers are reused for other files. */
static void run_and_close_all(void *arg)
{
    (void)arg;
    alarm(LONG_S);
    if (filch_start(NULL) < 0)
        _exit(3);
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    for (int i = 0; i < 32; i++)
        if (open(victim, O_RDWR | O_CLOEXEC) < 0)
            _exit(3);
    run();
}

static void descriptors_of_the_program_are_not_written(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        write_file(victim, 0600);
        CHECK_STR(ends_well(settings[i], target, run_and_close_all).text, "");
        CHECK(is_precious(victim));
        CHECK_INT(clean(), 1);
    }
}

static void run_elsewhere(void *arg)
{
    (void)arg;
    if (chdir(folder) < 0 || filch_start(NULL) < 0 || chdir("/") < 0)
        _exit(3);
    run();
}

static void it_is_where_the_program_was_at_the_start(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        CHECK_STR(ends_well(settings[i], "target", run_elsewhere).text, "");
        CHECK(mode_of(target) > 0);
        CHECK_INT(clean(), 1);
    }
}

/* ---- what is not a regular file ---- */

static void a_pipe_without_a_reader(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        struct child_end end;
        CHECK_INT(mkfifo(target, 0600), 0);
        end = ends_well(settings[i], target, just_run);
        says(&end, settings[i], "it has no reader");
        CHECK_INT(clean(), 1);
    }
}

static void run_without_reader(void *arg)
{
    int ends[2];

    (void)arg;
    if (pipe(ends) < 0 || dup2(ends[1], 40) < 0 || close(ends[0]) < 0)
        _exit(3);
    run();
}

static void a_reader_that_has_gone(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++)
        CHECK(strstr(ends_well(settings[i], "/dev/fd/40", run_without_reader).text, "Broken pipe"));
}

/* What the program has written there before stays. */
static void run_with_stdout(void *arg)
{
    int fd = open(target, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    (void)arg;
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 ||
        write(STDOUT_FILENO, precious, sizeof precious) < 0)
        _exit(3);
    run();
    _exit(lseek(fd, 0, SEEK_CUR) > (off_t)sizeof precious ? 0 : 4);
}

static bool begins_precious(void)
{
    char text[sizeof precious] = "";
    int fd = open(target, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof text);

    close(fd);
    return n == (ssize_t)sizeof text && strcmp(text, precious) == 0;
}

static void descriptors_by_name(void **state)
{
    static const char *const names[] = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};

    (void)state;
    for (int i = 0; i < SETTINGS; i++)
        for (int j = 0; j < 3; j++) {
            CHECK_STR(ends_well(settings[i], names[j], run_with_stdout).text, "");
            CHECK(begins_precious());
            CHECK_INT(clean(), 1);
        }
}

static void devices(void **state)
{
    struct stat s;

    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        CHECK_STR(ends_well(settings[i], "/dev/null", just_run).text, "");
        CHECK(stat("/dev/null", &s) == 0 && S_ISCHR(s.st_mode));
        CHECK(strstr(ends_well(settings[i], "/dev/full", just_run).text, "No space left"));
        CHECK(strstr(ends_well(settings[i], folder, just_run).text, "Is a directory"));
    }
}

/* ---- limits ---- */

static void run_with_limit(void *arg)
{
    const struct rlimit none = {0, 0};

    (void)arg;
    if (setrlimit(RLIMIT_FSIZE, &none) < 0)
        _exit(3);
    run();
}

/* The file that was there stays. */
static void no_file_may_be_written(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        struct child_end end;
        write_file(target, 0600);
        end = ends_well(settings[i], target, run_with_limit);
        says(&end, settings[i], "File too large");
        CHECK(is_precious(target));
        CHECK_INT(clean(), 1);
    }
    CHECK(strstr(ends_well("FILCH_TOP", "1", run_with_limit).text, "File too large"));
}

/* ---- all ---- */

static void make_folder(void **state)
{
    (void)state;
    CHECK(mkdtemp(folder) != NULL);
    snprintf(target, sizeof target, "%s/target", folder);
    snprintf(victim, sizeof victim, "%s/victim", folder);
}

static void remove_folder(void **state)
{
    (void)state;
    clean();
    unlink(victim);
    CHECK_INT(rmdir(folder), 0);
}

CHECK_MAIN(make_folder, rights_are_kept, a_new_file_is_like_any_other,
           links_beside_it_are_not_followed, a_link_stays_one,
           descriptors_of_the_program_are_not_written, it_is_where_the_program_was_at_the_start,
           a_pipe_without_a_reader, a_reader_that_has_gone, descriptors_by_name, devices,
           no_file_may_be_written, remove_folder)
