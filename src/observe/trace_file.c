#include "observe/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ---- */

/* Before the .json at its end, if it has that, so that it is still one for others. */
static int put_word(char *to, size_t size, const char *path, const char *word)
{
    static const char ending[] = ".json";
    size_t n = strlen(path), tail = sizeof ending - 1;
    int written;

    if (n < tail || strcmp(path + n - tail, ending) != 0)
        tail = 0;
    written = snprintf(to, size, "%.*s.%s%s", (int)(n - tail), path, word, path + n - tail);
    return written < 0 || (size_t)written >= size ? -ENAMETOOLONG : 0;
}

static int put_number(fi_trace_file *f, uint64_t number)
{
    char word[24];

    snprintf(f->target, sizeof f->target, "%s", f->path);
    snprintf(word, sizeof word, "%llu", (unsigned long long)number);
    return put_word(f->path, sizeof f->path, f->target, word);
}

/* True: the number of the process is in there. */
static int expand(fi_trace_file *f, const char *wish, pid_t pid, bool *numbered)
{
    size_t n = 0;

    *numbered = false;
    for (const char *c = wish; *c; c++) {
        int added = 1;
        if (c[0] == '%' && c[1] == 'p') {
            added = snprintf(f->path + n, sizeof f->path - n, "%ld", (long)pid);
            *numbered = true;
            c++;
        } else {
            c += c[0] == '%' && c[1] == '%';
            f->path[n] = *c;
        }
        n += (size_t)added;
        if (n >= sizeof f->path)
            return -ENAMETOOLONG;
    }
    f->path[n] = '\0';
    return 0;
}

int fi_trace_file_name(fi_trace_file *f, const char *wish, pid_t pid, pid_t first, uint64_t runtime)
{
    bool numbered;
    int e = expand(f, wish, pid, &numbered);

    if (e == 0 && pid != first && !numbered)
        e = put_number(f, (uint64_t)pid);
    if (e == 0 && runtime > 1)
        e = put_number(f, runtime);
    return e;
}

/* ---- files ---- */

/* A terminal or a pipe is written to as it is: to put a file in its place would be a surprise. */
static bool is_no_file(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && !S_ISREG(s.st_mode);
}

static int make_temporary(fi_trace_file *f)
{
    int fd;

    snprintf(f->temporary, sizeof f->temporary, "%s.%ld", f->target, (long)getpid());
    fd = open(f->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return fd < 0 ? -errno : fd;
}

static int write_in_place(const char *path, int (*write)(void *ctx, int fd), void *ctx)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), e;

    if (fd < 0)
        return -errno;
    e = write(ctx, fd);
    close(fd);
    return e;
}

static void name_target(fi_trace_file *f, const char *word)
{
    if (word)
        put_word(f->target, sizeof f->target, f->path, word);
    else
        snprintf(f->target, sizeof f->target, "%s", f->path);
}

int fi_trace_file_try(fi_trace_file *f)
{
    int fd;

    name_target(f, NULL);
    if (is_no_file(f->target))
        return access(f->target, W_OK) < 0 ? -errno : 0;
    fd = make_temporary(f);
    if (fd < 0)
        return fd;
    close(fd);
    unlink(f->temporary);
    return 0;
}

int fi_trace_file_write(fi_trace_file *f, const char *word, int (*write)(void *ctx, int fd),
                        void *ctx)
{
    int fd, e;

    name_target(f, word);
    if (is_no_file(f->target))
        return write_in_place(f->target, write, ctx);
    fd = make_temporary(f);
    if (fd < 0)
        return fd;
    e = write(ctx, fd);
    if (close(fd) < 0 && e == 0)
        e = -errno;
    if (e == 0 && rename(f->temporary, f->target) < 0)
        e = -errno;
    if (e < 0)
        unlink(f->temporary);
    return e;
}
