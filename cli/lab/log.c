#define _GNU_SOURCE
#include "log.h"

#include "json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char complaint[1024];

static const char *complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(complaint, sizeof complaint, format, args);
    va_end(args);
    return complaint;
}

/* ---- reading ---- */

/* Lines up to the first that is not whole; *good becomes the length of what is. */
static lab_results *read_lines(FILE *file, long *good)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t n;
    lab_results *r = NULL;
    *good = 0;
    while ((n = getline(&line, &capacity, file)) > 0 && line[n - 1] == '\n') {
        line[n - 1] = '\0';
        if (strlen(line) != (size_t)n - 1)
            break;
        if (r ? results_add(r, line) < 0 : !(r = results_new(line)))
            break;
        *good += n;
    }
    free(line);
    return r;
}

/* A device or a pipe can be read for ever. */
static bool is_plain(FILE *file)
{
    struct stat s;
    return fstat(fileno(file), &s) == 0 && S_ISREG(s.st_mode);
}

lab_results *log_read(const char *path)
{
    long good;
    FILE *file = fopen(path, "re");
    lab_results *r = file && is_plain(file) ? read_lines(file, &good) : NULL;
    if (file)
        fclose(file);
    return r;
}

/* ---- is it the same run? ---- */

static size_t length_of(const char *value)
{
    const char *next = json_next(value);
    return next ? (size_t)(next - value) : strcspn(value, "}");
}

/* What was asked for then, and is not now: as a member of JSON, or NULL. */
static const char *first_difference(const char *then, const char *now)
{
    const char *a = json_begin(then), *b = json_begin(now);
    for (; a && b; a = json_next(a), b = json_next(b)) {
        size_t length = length_of(a);
        if (length != length_of(b) || strncmp(a, b, length) != 0)
            return a;
    }
    return a;
}

static const char *refuse(const char *path, const char *member)
{
    size_t length = length_of(member);
    while (length > 0 && strchr(", ", member[length - 1]))
        length--;
    return complain("%s is of another run, with %.*s; --anew forgets it, another --out keeps it",
                    path, (int)length, member);
}

/* ---- writing ---- */

static const char *failed_to(const char *path)
{
    return complain("%s: %s", path, strerror(errno));
}

static const char *put(lab_log *log, const char *line)
{
    if (fprintf(log->file, "%s\n", line) < 0 || fflush(log->file) != 0)
        return failed_to(log->path);
    return NULL;
}

static const char *begin(lab_log *log, const char *head)
{
    log->results = results_new(head);
    if (!log->results)
        return "no memory for the log";
    if (ftruncate(fileno(log->file), 0) != 0)
        return failed_to(log->path);
    rewind(log->file);
    return put(log, head);
}

/* Cut off what is not whole. */
static const char *go_on(lab_log *log, long good)
{
    if (ftruncate(fileno(log->file), good) != 0 || fseek(log->file, good, SEEK_SET) != 0)
        return failed_to(log->path);
    return NULL;
}

static const char *open_or_begin(lab_log *log, const char *head, bool anew)
{
    long good = 0;
    if (!is_plain(log->file))
        return complain("%s is no plain file", log->path);
    if (flock(fileno(log->file), LOCK_EX | LOCK_NB) != 0)
        return complain("%s: another filch is writing it", log->path);
    log->results = anew ? NULL : read_lines(log->file, &good);
    if (!log->results)
        return begin(log, head);
    const char *differs =
        first_difference(results_head(log->results, "asked"), json_member(head, "asked"));
    return differs ? refuse(log->path, differs) : go_on(log, good);
}

const char *log_open(lab_log *log, const char *path, const char *head, bool anew)
{
    *log = (lab_log){.file = fopen(path, "a+e"), .path = strdup(path)};
    const char *why = log->file && log->path ? NULL : failed_to(path);
    if (!why)
        why = open_or_begin(log, head, anew);
    if (why)
        log_close(log);
    return why;
}

const char *log_in_memory(lab_log *log, const char *head)
{
    *log = (lab_log){.results = results_new(head)};
    return log->results ? NULL : "no memory for the log";
}

const char *log_add(lab_log *log, const char *line)
{
    int e = results_add(log->results, line);
    if (e < 0)
        return complain("a call cannot be noted: %s", strerror(-e));
    return log->file ? put(log, line) : NULL;
}

void log_close(lab_log *log)
{
    if (log->file)
        fclose(log->file);
    free(log->path);
    results_free(log->results);
    *log = (lab_log){0};
}
