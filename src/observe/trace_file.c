/* Make the name of a trace file from FILCH_TRACE, for trace.c. */
#include "observe/trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SETTING "FILCH_TRACE"

/* A suffix goes before an extension .json, so that the file keeps its type. */
static int add_suffix(char *to, size_t size, const char *path, const char *suffix)
{
    static const char extension[] = ".json";
    size_t n = strlen(path), tail = sizeof extension - 1;
    int written;

    if (n < tail || strcmp(path + n - tail, extension) != 0)
        tail = 0;
    written = snprintf(to, size, "%.*s.%s%s", (int)(n - tail), path, suffix, path + n - tail);
    return written < 0 || (size_t)written >= size ? -ENAMETOOLONG : 0;
}

static int add_number(fi_trace_file *f, uint64_t number)
{
    char suffix[24];

    snprintf(f->output.path, sizeof f->output.path, "%s", f->path);
    snprintf(suffix, sizeof suffix, "%llu", (unsigned long long)number);
    return add_suffix(f->path, sizeof f->path, f->output.path, suffix);
}

static int expand(fi_trace_file *f, const char *setting, pid_t pid, bool *has_pid)
{
    size_t n = 0;

    *has_pid = false;
    for (const char *c = setting; *c; c++) {
        int added = 1;
        if (c[0] == '%' && c[1] == 'p') {
            added = snprintf(f->path + n, sizeof f->path - n, "%ld", (long)pid);
            *has_pid = true;
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

static int make_name(fi_trace_file *f, const char *setting, pid_t pid, pid_t first_pid,
                     uint64_t runtime)
{
    bool has_pid;
    int e = expand(f, setting, pid, &has_pid);

    if (e < 0 || fi_output_is_special(f->path))
        return e;
    if (pid != first_pid && !has_pid)
        e = add_number(f, (uint64_t)pid);
    if (e == 0 && runtime > 1)
        e = add_number(f, runtime);
    return e;
}

/* fi_output_init makes the path absolute. */
int fi_trace_file_name(fi_trace_file *f, const char *setting, pid_t pid, pid_t first_pid,
                       uint64_t runtime)
{
    int e = make_name(f, setting, pid, first_pid, runtime);

    if (e == 0) {
        e = fi_output_init(&f->output, SETTING, f->path);
        if (e < 0)
            return e;
        size_t size = strlen(f->output.path) + 1;
        if (size > sizeof f->path)
            e = -ENAMETOOLONG;
        else
            memcpy(f->path, f->output.path, size);
    }
    if (e < 0)
        fi_output_error(SETTING, setting, e);
    return e;
}

int fi_trace_file_open(fi_trace_file *f, const char *suffix)
{
    if (suffix && !fi_output_is_special(f->path))
        add_suffix(f->output.path, sizeof f->output.path, f->path, suffix);
    else
        snprintf(f->output.path, sizeof f->output.path, "%s", f->path);
    return fi_output_open(&f->output);
}
