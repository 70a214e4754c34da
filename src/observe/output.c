/* Open, write and replace the file of an observer.  All observers that write a file use it. */
#include "observe/output.h"

#include "base/message.h"
#include "base/rng.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STALLED_MS 5000 /* without a byte read, until a reader counts as stalled */
#define TRIES      16   /* to find an unused name */

/* ---- messages ---- */

static const char *reason(int e)
{
    switch (e) {
    case -ENXIO:
        return "it has no reader";
    case -ETIMEDOUT:
        return "its reader does not read";
    default:
        return strerror(-e);
    }
}

/* A long name is cut. */
void fi_output_error(const char *setting, const char *path, int e)
{
    fi_message(FILCH_LEVEL_ERROR, "%s: cannot write %.300s: %s", setting, path, reason(e));
}

static int report(const fi_output *o, int e)
{
    if (e < 0)
        fi_output_error(o->setting, o->path, e);
    return e;
}

/* ---- names ---- */

static int make_absolute(char *to, size_t size, const char *path)
{
    size_t n = 0, length = strlen(path);

    if (*path != '/') {
        if (!getcwd(to, size))
            return errno == ERANGE ? -ENAMETOOLONG : -errno;
        n = strlen(to);
        to[n++] = '/';
    }
    if (n + length >= size)
        return -ENAMETOOLONG;
    memcpy(to + n, path, length + 1);
    return 0;
}

int fi_output_init(fi_output *o, const char *setting, const char *path)
{
    int e = make_absolute(o->path, sizeof o->path, path);

    o->setting = setting;
    if (e < 0)
        fi_output_error(setting, path, e);
    return e;
}

/* The number at the end of the path; -1: there is none. */
static int number_after(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    char *end;
    long number;

    if (strncmp(path, folder, n) != 0 || path[n] < '0' || path[n] > '9')
        return -1;
    number = strtol(path + n, &end, 10);
    return *end || number > INT_MAX ? -1 : (int)number;
}

/* The descriptor of this process that the path stands for; -1: none.  Opening it by its name would
 * start at offset 0 of a file, and overwrite the program's own output. */
static int descriptor_of(const char *path)
{
    int fd = number_after(path, "/dev/fd/");

    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    return fd >= 0 ? fd : number_after(path, "/proc/self/fd/");
}

bool fi_output_is_special(const char *path)
{
    struct stat s;

    return descriptor_of(path) >= 0 || (stat(path, &s) == 0 && !S_ISREG(s.st_mode));
}

/* ---- existing descriptors, FIFOs and devices ---- */

static int can_write_descriptor(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0)
        return -errno;
    return (flags & O_ACCMODE) == O_RDONLY ? -EBADF : 0;
}

static int can_write_special(const char *path)
{
    struct stat s;

    if (stat(path, &s) == 0 && S_ISDIR(s.st_mode))
        return -EISDIR;
    return access(path, W_OK) < 0 ? -errno : 0;
}

/* A regular file that has just appeared there would lose its first bytes. */
static int open_special(const char *path)
{
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), e;
    struct stat s;

    if (fd < 0)
        return -errno;
    e = fstat(fd, &s) < 0 ? -errno : 0;
    if (e == 0 && !S_ISREG(s.st_mode))
        return fd;
    close(fd);
    return e < 0 ? e : -EEXIST;
}

/* ---- regular files, which are replaced ---- */

/* A dangling symbolic link is itself replaced. */
static void find_target(fi_output *o)
{
    _Static_assert(sizeof o->target == sizeof o->path, "the path fits");

    if (!realpath(o->path, o->target))
        memcpy(o->target, o->path, sizeof o->target);
}

/* O_EXCL: neither an existing file nor the target of a link is opened. */
static int create_temporary(fi_output *o, mode_t mode)
{
    int fd = -1;

    for (int i = 0; i < TRIES && fd < 0; i++) {
        unsigned long long number = fi_rng_next(fi_rng_thread());
        snprintf(o->temporary, sizeof o->temporary, "%s.%016llx", o->target, number);
        fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            return -errno;
    }
    return fd < 0 ? -EEXIST : fd;
}

/* Users that could not read the old file cannot read the new one. */
static int keep_rights(int fd, const struct stat *old)
{
    mode_t mode = old->st_mode & 0777;

    if (fchown(fd, old->st_uid, old->st_gid) < 0)
        mode &= 0700;
    return fchmod(fd, mode) < 0 ? -errno : 0;
}

/* The descriptor of a new file.  Its owner and mode are those of the file at the path, or the
 * defaults. */
static int open_temporary(fi_output *o)
{
    struct stat old;
    bool exists;
    int fd, e;

    find_target(o);
    exists = stat(o->target, &old) == 0;
    fd = create_temporary(o, exists ? 0600 : 0666);
    if (fd < 0 || !exists)
        return fd;
    e = keep_rights(fd, &old);
    if (e == 0)
        return fd;
    close(fd);
    unlink(o->temporary);
    return e;
}

/* e: the result of writing the new file. */
static int commit(fi_output *o, int e)
{
    if (close(o->fd) < 0 && e == 0)
        e = -errno;
    if (e == 0 && rename(o->temporary, o->target) < 0)
        e = -errno;
    if (e < 0)
        unlink(o->temporary);
    return e;
}

/* Checks that a new file can be made beside the target.  No file is made here, because the program
 * may not be allowed to remove it again. */
static int can_replace(fi_output *o)
{
    char *end;
    int e;

    find_target(o);
    end = strrchr(o->target, '/') + 1; /* the path is absolute */
    *end = '\0';
    e = faccessat(AT_FDCWD, o->target, W_OK | X_OK, AT_EACCESS) < 0 ? -errno : 0;
    find_target(o);
    return e;
}

/* ---- all kinds ---- */

int fi_output_check(fi_output *o)
{
    int fd = descriptor_of(o->path);

    if (fd >= 0)
        return report(o, can_write_descriptor(fd));
    if (fi_output_is_special(o->path))
        return report(o, can_write_special(o->path));
    return report(o, can_replace(o));
}

static int open_output(fi_output *o)
{
    int fd = descriptor_of(o->path);

    o->kind = FI_OUTPUT_DESCRIPTOR;
    if (fd >= 0)
        return fd;
    o->kind = FI_OUTPUT_SPECIAL;
    if (fi_output_is_special(o->path))
        return open_special(o->path);
    o->kind = FI_OUTPUT_REGULAR;
    return open_temporary(o);
}

/* The error line is written while the signals are blocked, because writing to stderr may raise them
 * as well. */
int fi_output_open(fi_output *o)
{
    fi_file_signals_block(&o->signals);
    o->fd = report(o, open_output(o));
    if (o->fd < 0)
        fi_file_signals_unblock(&o->signals);
    return o->fd;
}

int fi_output_close(fi_output *o, int e)
{
    if (o->kind == FI_OUTPUT_REGULAR)
        e = commit(o, e);
    else if (o->kind == FI_OUTPUT_SPECIAL)
        close(o->fd);
    report(o, e);
    fi_file_signals_unblock(&o->signals);
    return e;
}

/* The descriptor may be non-blocking. */
static int wait_for_reader(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int n = poll(&p, 1, STALLED_MS);

    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    return n == 0 ? -ETIMEDOUT : 0;
}

int fi_output_append(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;

    while (n > 0) {
        ssize_t done = write(fd, p, n);
        int e = done < 0 ? -errno : 0;
        if (e == -EAGAIN)
            e = wait_for_reader(fd);
        if (e < 0 && e != -EINTR)
            return e;
        p += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}
