/* The files that FILCH_TRACE, FILCH_SAMPLE and FILCH_SCALE write: only the requested one, with
 * its permissions.  The program goes on if it cannot be written.  Each case is a process of its
 * own, as a signal may end it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"
#include "child.h"
#include "fib.h"

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

/* Remove all files except the victim and return their number. */
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

static struct child_end exits_with_0(const char *setting, const char *value, void (*fn)(void *))
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

static void run_only(void *arg)
{
    (void)arg;
    run();
}

static void check_message(const struct child_end *end, const char *setting, const char *why)
{
    char line[256];

    snprintf(line, sizeof line, "filch: %s: cannot write %s: %s\n", setting, target, why);
    CHECK_STR(end->text, line);
}

/* ---- which file ---- */

static void permissions_are_kept(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        write_file(target, 0600);
        CHECK_STR(exits_with_0(settings[i], target, run_only).text, "");
        CHECK(!is_precious(target));
        CHECK_INT(mode_of(target), 0600);
        CHECK_INT(clean(), 1);
    }
}

static void a_new_file_has_the_usual_permissions(void **state)
{
    mode_t before = umask(027);

    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        CHECK_STR(exits_with_0(settings[i], target, run_only).text, "");
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

static void a_link_at_the_temporary_name_is_not_followed(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        write_file(victim, 0600);
        exits_with_0(settings[i], target, run_over_link);
        CHECK(is_precious(victim));
        clean();
    }
}

/* If the name is a link, its target is written, and the link stays. */
static void a_link_is_not_replaced(void **state)
{
    struct stat s;

    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        write_file(victim, 0640);
        CHECK_INT(symlink(victim, target), 0);
        CHECK_STR(exits_with_0(settings[i], target, run_only).text, "");
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

static void reused_descriptors_are_not_written(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        write_file(victim, 0600);
        CHECK_STR(exits_with_0(settings[i], target, run_and_close_all).text, "");
        CHECK(is_precious(victim));
        CHECK_INT(clean(), 1);
    }
}

static void run_and_change_directory(void *arg)
{
    (void)arg;
    if (chdir(folder) < 0 || filch_start(NULL) < 0 || chdir("/") < 0)
        _exit(3);
    run();
}

static void the_path_is_relative_to_the_directory_at_start(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        CHECK_STR(exits_with_0(settings[i], "target", run_and_change_directory).text, "");
        CHECK(mode_of(target) > 0);
        CHECK_INT(clean(), 1);
    }
}

/* ---- pipes, descriptors and devices ---- */

static void a_pipe_without_a_reader(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        struct child_end end;
        CHECK_INT(mkfifo(target, 0600), 0);
        end = exits_with_0(settings[i], target, run_only);
        check_message(&end, settings[i], "it has no reader");
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

static void a_pipe_whose_reader_has_closed(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++)
        CHECK(strstr(exits_with_0(settings[i], "/dev/fd/40", run_without_reader).text,
                     "Broken pipe"));
}

/* Earlier output of the program is kept. */
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

static void descriptors_in_dev_fd(void **state)
{
    static const char *const names[] = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};

    (void)state;
    for (int i = 0; i < SETTINGS; i++)
        for (int j = 0; j < 3; j++) {
            CHECK_STR(exits_with_0(settings[i], names[j], run_with_stdout).text, "");
            CHECK(begins_precious());
            CHECK_INT(clean(), 1);
        }
}

static void devices(void **state)
{
    struct stat s;

    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        CHECK_STR(exits_with_0(settings[i], "/dev/null", run_only).text, "");
        CHECK(stat("/dev/null", &s) == 0 && S_ISCHR(s.st_mode));
        CHECK(strstr(exits_with_0(settings[i], "/dev/full", run_only).text, "No space left"));
        CHECK(strstr(exits_with_0(settings[i], folder, run_only).text, "Is a directory"));
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

/* The previous file is kept. */
static void a_file_size_limit(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        struct child_end end;
        write_file(target, 0600);
        end = exits_with_0(settings[i], target, run_with_limit);
        check_message(&end, settings[i], "File too large");
        CHECK(is_precious(target));
        CHECK_INT(clean(), 1);
    }
}

/* ---- set-up and clean-up ---- */

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

CHECK_MAIN(make_folder, permissions_are_kept, a_new_file_has_the_usual_permissions,
           a_link_at_the_temporary_name_is_not_followed, a_link_is_not_replaced,
           reused_descriptors_are_not_written, the_path_is_relative_to_the_directory_at_start,
           a_pipe_without_a_reader, a_pipe_whose_reader_has_closed, descriptors_in_dev_fd, devices,
           a_file_size_limit, remove_folder)
