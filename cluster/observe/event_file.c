/* A buffer, and a temporary file that is renamed. */
#define _GNU_SOURCE
#include "observe/event_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TRIES 10 /* to find an unused name */

/* ---- the file ---- */

/* A name that no other file has.  O_EXCL: neither a file nor the target of a link is opened. */
static int create_temporary(fi_event_file *f, mode_t mode)
{
    for (int i = 0; i < TRIES; i++) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        snprintf(f->temporary, sizeof f->temporary, "%s.%08lx%d", f->path,
                 (unsigned long)(now.tv_nsec ^ (long)getpid() << 12) & 0xffffffff, i);
        f->fd = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (f->fd >= 0 || errno != EEXIST)
            return f->fd < 0 ? -errno : 0;
    }
    return -EEXIST;
}

/* The new file has the mode of the file that it replaces. */
static int open_temporary(fi_event_file *f)
{
    struct stat old;
    bool exists = stat(f->path, &old) == 0;
    int e = create_temporary(f, exists ? 0600 : 0666);

    if (e < 0 || !exists || fchmod(f->fd, old.st_mode & 0777) == 0)
        return e;
    e = -errno;
    close(f->fd);
    unlink(f->temporary);
    return e;
}

/* A device or a FIFO is not replaced.  A FIFO without a reader is an error. */
static int open_special(fi_event_file *f)
{
    int flags;

    f->fd = open(f->path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (f->fd < 0)
        return -errno;
    flags = fcntl(f->fd, F_GETFL);
    return fcntl(f->fd, F_SETFL, flags & ~O_NONBLOCK) < 0 ? -errno : 0;
}

int fi_event_file_open(fi_event_file *f, const char *path)
{
    struct stat s;

    f->error = 0;
    f->n = 0;
    f->has_events = false;
    if (strlen(path) >= sizeof f->path)
        return -ENAMETOOLONG;
    if (!realpath(path, f->path)) /* there is no such file yet */
        snprintf(f->path, sizeof f->path, "%s", path);
    f->is_special = stat(f->path, &s) == 0 && !S_ISREG(s.st_mode);
    return f->is_special ? open_special(f) : open_temporary(f);
}

static void flush(fi_event_file *f)
{
    const char *p = f->buffer;

    while (f->n > 0 && f->error == 0) {
        ssize_t done = write(f->fd, p, f->n);
        if (done < 0 && errno != EINTR)
            f->error = -errno;
        p += done > 0 ? done : 0;
        f->n -= done > 0 ? (size_t)done : 0;
    }
    f->n = 0;
}

int fi_event_file_close(fi_event_file *f)
{
    flush(f);
    if (close(f->fd) < 0 && f->error == 0)
        f->error = -errno;
    if (f->is_special)
        return f->error;
    if (f->error == 0 && rename(f->temporary, f->path) < 0)
        f->error = -errno;
    if (f->error < 0)
        unlink(f->temporary);
    return f->error;
}

/* ---- text ---- */

void fi_event_file_bytes(fi_event_file *f, const char *bytes, size_t n)
{
    while (n > 0) {
        size_t part = sizeof f->buffer - f->n;
        part = part < n ? part : n;
        memcpy(f->buffer + f->n, bytes, part);
        f->n += part;
        bytes += part;
        n -= part;
        if (f->n == sizeof f->buffer)
            flush(f);
    }
}

void fi_event_file_text(fi_event_file *f, const char *text)
{
    fi_event_file_bytes(f, text, strlen(text));
}

void fi_event_file_next(fi_event_file *f)
{
    fi_event_file_text(f, f->has_events ? ",\n" : "\n");
    f->has_events = true;
}

void fi_event_file_number(fi_event_file *f, uint64_t n)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    fi_event_file_bytes(f, digits + at, sizeof digits - at);
}

void fi_event_file_us(fi_event_file *f, int64_t ns)
{
    uint64_t left = ns > 0 ? (uint64_t)ns : 0;
    char part[4] = {'.', (char)('0' + left % 1000 / 100), (char)('0' + left % 100 / 10),
                    (char)('0' + left % 10)};

    fi_event_file_number(f, left / 1000);
    fi_event_file_bytes(f, part, sizeof part);
}
