/* Read all journals of a directory, and write report.html and the charts.  Called by lab.c. */
#define _GNU_SOURCE
#include "report.h"

#include "journal.h"
#include "json.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECTIONS_MAX = 32 };

static char error_text[PATH_MAX + 256];

static const char *file_error(const char *path)
{
    snprintf(error_text, sizeof error_text, "%s: %s", path, strerror(errno));
    return error_text;
}

/* ---- sections ---- */

static bool read_section(const char *folder, const lab_experiment *e, lab_section *s)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/raw/%s.jsonl", folder, e->name);
    *s = (lab_section){.of = e, .results = journal_read(path)};
    s->page = s->results ? report_page_new(e->name) : NULL;
    if (!s->page) {
        results_free(s->results);
        return false;
    }
    e->describe(s->results, s->page);
    return true;
}

static int read_sections(const char *folder, lab_section *sections)
{
    int n = 0;
    for (int i = 0; lab_experiments[i] && n < SECTIONS_MAX; i++)
        n += read_section(folder, lab_experiments[i], &sections[n]);
    return n;
}

static void free_sections(lab_section *sections, int n)
{
    for (int i = 0; i < n; i++) {
        report_page_free(sections[i].page);
        results_free(sections[i].results);
    }
}

void report_command(const lab_section *s, FILE *out)
{
    const lab_results *r = s->results;
    fprintf(out, "filch lab %s", s->of->name);
    if (lab_args(r)[0] != '\0')
        fprintf(out, " %s", lab_args(r));
    if (lab_was_quick(r))
        fputs(" --quick", out);
    fprintf(out, " --workers %u --repeat %d --out DIR", lab_workers(r), lab_rounds(r));
}

/* ---- files ---- */

/* Create a new file, also if the name is a link.  It gets the mode of the file that it replaces. */
static FILE *open_draft(const char *draft, const char *path)
{
    struct stat old;
    unlink(draft);
    FILE *out = fopen(draft, "wxe");
    if (out && stat(path, &old) == 0)
        fchmod(fileno(out), old.st_mode & 0777);
    return out;
}

/* Write to another name first and rename, so that the file is complete or absent. */
static const char *write_file(const char *path, void (*write)(FILE *out, const void *what),
                              const void *what)
{
    char draft[PATH_MAX];
    if (snprintf(draft, sizeof draft, "%s.new", path) >= (int)sizeof draft)
        return "the name of the directory is too long";
    FILE *out = open_draft(draft, path);
    if (!out)
        return file_error(draft);
    write(out, what);
    bool is_bad = ferror(out) || fflush(out) != 0;
    is_bad |= fclose(out) != 0;
    if (!is_bad && rename(draft, path) == 0)
        return NULL;
    const char *why = file_error(path);
    unlink(draft);
    return why;
}

typedef struct all_sections {
    const lab_section *at;
    int count;
} all_sections;

static void write_html(FILE *out, const void *what)
{
    const all_sections *all = what;
    report_html(out, all->at, all->count);
}

static void write_svg(FILE *out, const void *what)
{
    fputs(what, out);
}

static const char *write_charts(const char *folder, const lab_section *s)
{
    const char *why = NULL;
    int number = 0;
    for (int i = 0; i < s->page->count && !why; i++) {
        char path[PATH_MAX];
        const report_page_part *part = &s->page->parts[i];
        if (part->kind != REPORT_PAGE_CHART)
            continue;
        snprintf(path, sizeof path, "%s/charts/%s-%d.svg", folder, s->of->name, ++number);
        if (part->drawings[REPORT_PAGE_WIDE].svg)
            why = write_file(path, write_svg, part->drawings[REPORT_PAGE_WIDE].svg);
    }
    return why;
}

static const char *write_all(const char *folder, const lab_section *sections, int n)
{
    char path[PATH_MAX];
    const char *why = NULL;
    snprintf(path, sizeof path, "%s/charts", folder);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return file_error(path);
    for (int i = 0; i < n && !why; i++)
        why = sections[i].page->truncated ? "out of memory for the report"
                                          : write_charts(folder, &sections[i]);
    if (why)
        return why;
    snprintf(path, sizeof path, "%s/report.html", folder);
    all_sections all = {sections, n};
    return write_file(path, write_html, &all);
}

static const char *draw_charts(lab_section *sections, int n)
{
    const char *why = NULL;
    for (int i = 0; i < n && !why; i++)
        why = report_page_draw(sections[i].page);
    return why;
}

const char *report_write(const char *folder, const char **undrawn)
{
    lab_section sections[SECTIONS_MAX] = {0};
    int n = read_sections(folder, sections);
    *undrawn = draw_charts(sections, n);
    const char *why = n > 0 ? write_all(folder, sections, n) : NULL;
    if (n == 0) {
        snprintf(error_text, sizeof error_text, "%s/raw has no journal", folder);
        why = error_text;
    }
    free_sections(sections, n);
    return why;
}
