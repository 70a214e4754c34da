#include "observe/trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SETTING "FILCH_TRACE"

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

    snprintf(f->output.path, sizeof f->output.path, "%s", f->path);
    snprintf(word, sizeof word, "%llu", (unsigned long long)number);
    return put_word(f->path, sizeof f->path, f->output.path, word);
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

static int make_name(fi_trace_file *f, const char *wish, pid_t pid, pid_t first, uint64_t runtime)
{
    bool numbered;
    int e = expand(f, wish, pid, &numbered);

    if (e < 0 || fi_output_is_special(f->path))
        return e;
    if (pid != first && !numbered)
        e = put_number(f, (uint64_t)pid);
    if (e == 0 && runtime > 1)
        e = put_number(f, runtime);
    return e;
}

/* The path is absolute afterwards. */
int fi_trace_file_name(fi_trace_file *f, const char *wish, pid_t pid, pid_t first, uint64_t runtime)
{
    int e = make_name(f, wish, pid, first, runtime);

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
        fi_output_complain(SETTING, wish, e);
    return e;
}

/* ---- the file ---- */

int fi_trace_file_write(fi_trace_file *f, const char *word, int (*write)(void *ctx, int fd),
                        void *ctx)
{
    if (word && !fi_output_is_special(f->path))
        put_word(f->output.path, sizeof f->output.path, f->path, word);
    else
        snprintf(f->output.path, sizeof f->output.path, "%s", f->path);
    return fi_output_write(&f->output, write, ctx);
}
