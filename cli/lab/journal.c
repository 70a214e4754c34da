/* Read, continue and append to the journal of an experiment. */
#define _GNU_SOURCE
#include "journal.h"

#include "json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char error_text[1024];

static const char *journal_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *journal_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error_text, sizeof error_text, format, args);
    va_end(args);
    return error_text;
}

/* ---- reading ---- */

/* Read lines up to the first incomplete one.  *good: the length of the complete lines. */
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

/* Reading a device or a pipe may never end. */
static bool is_plain(FILE *file)
{
    struct stat s;
    return fstat(fileno(file), &s) == 0 && S_ISREG(s.st_mode);
}

lab_results *journal_read(const char *path)
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

/* The first option that differs, as a JSON member, or NULL. */
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

static const char *other_run_error(const char *path, const char *member)
{
    size_t length = length_of(member);
    while (length > 0 && strchr(", ", member[length - 1]))
        length--;
    return journal_error(
        "%s belongs to another run, with %.*s; discard it with --restart or choose another --out",
        path, (int)length, member);
}

/* ---- writing ---- */

static const char *file_error(const char *path)
{
    return journal_error("%s: %s", path, strerror(errno));
}

static const char *journal_write(lab_journal *journal, const char *line)
{
    if (fprintf(journal->file, "%s\n", line) < 0 || fflush(journal->file) != 0)
        return file_error(journal->path);
    return NULL;
}

static const char *journal_begin(lab_journal *journal, const char *head)
{
    journal->results = results_new(head);
    if (!journal->results)
        return "out of memory for the journal";
    if (ftruncate(fileno(journal->file), 0) != 0)
        return file_error(journal->path);
    rewind(journal->file);
    return journal_write(journal, head);
}

/* Truncate incomplete lines. */
static const char *journal_continue(lab_journal *journal, long good)
{
    if (ftruncate(fileno(journal->file), good) != 0 || fseek(journal->file, good, SEEK_SET) != 0)
        return file_error(journal->path);
    return NULL;
}

static const char *journal_open_or_begin(lab_journal *journal, const char *head, bool restart)
{
    long good = 0;
    if (!is_plain(journal->file))
        return journal_error("%s is not a regular file", journal->path);
    if (flock(fileno(journal->file), LOCK_EX | LOCK_NB) != 0)
        return journal_error("%s: another filch is writing it", journal->path);
    journal->results = restart ? NULL : read_lines(journal->file, &good);
    if (!journal->results)
        return journal_begin(journal, head);
    const char *differs =
        first_difference(results_head(journal->results, "options"), json_member(head, "options"));
    return differs ? other_run_error(journal->path, differs) : journal_continue(journal, good);
}

const char *journal_open(lab_journal *journal, const char *path, const char *head, bool restart)
{
    *journal = (lab_journal){.file = fopen(path, "a+e"), .path = strdup(path)};
    const char *why = journal->file && journal->path ? NULL : file_error(path);
    if (!why)
        why = journal_open_or_begin(journal, head, restart);
    if (why)
        journal_close(journal);
    return why;
}

const char *journal_in_memory(lab_journal *journal, const char *head)
{
    *journal = (lab_journal){.results = results_new(head)};
    return journal->results ? NULL : "out of memory for the journal";
}

const char *journal_append(lab_journal *journal, const char *line)
{
    int e = results_add(journal->results, line);
    if (e < 0)
        return journal_error("cannot record a call: %s", strerror(-e));
    return journal->file ? journal_write(journal, line) : NULL;
}

void journal_close(lab_journal *journal)
{
    if (journal->file)
        fclose(journal->file);
    free(journal->path);
    results_free(journal->results);
    *journal = (lab_journal){0};
}
