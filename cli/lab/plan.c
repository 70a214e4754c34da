/* Collect the cases of an experiment.  Its plan function calls lab_add, lab_set and others here. */
#define _GNU_SOURCE
#include "plan.h"

#include "args.h"
#include "programs.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { USUAL_ROUNDS = 5, QUICK_ROUNDS = 3 };

lab_plan *plan_new(const lab_experiment *e, const lab_options *o)
{
    lab_plan *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->rounds = o->quick ? QUICK_ROUNDS : USUAL_ROUNDS;
    e->plan(o, p);
    if (o->repeat > 0)
        p->rounds = o->repeat;
    return p;
}

static void check_name(const lab_plan *p, const lab_case *c)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-";
    if (c->name[0] == '\0' || c->name[strspn(c->name, good)] != '\0')
        usage_error("lab: bad name of a case: '%s'", c->name);
    for (const lab_case *other = p->cases; other < c; other++)
        if (strcmp(other->name, c->name) == 0)
            usage_error("lab: two cases have the name '%s'", c->name);
}

lab_case *lab_add(lab_plan *p, const workload *w, const char *runtime, unsigned workers,
                  const char *name, ...)
{
    va_list args;
    if (p->count == LAB_CASES)
        usage_error("lab: more than %d cases", LAB_CASES);
    lab_case *c = &p->cases[p->count++];
    *c = (lab_case){.workload = w, .runtime = runtime, .workers = workers};
    va_start(args, name);
    vsnprintf(c->name, sizeof c->name, name, args);
    va_end(args);
    check_name(p, c);
    return c;
}

void lab_size(lab_case *c, long size)
{
    snprintf(c->size, sizeof c->size, "%ld", size);
}

void lab_set(lab_case *c, const char *setting, ...)
{
    va_list args;
    if (c->setting_count == LAB_SETTINGS)
        usage_error("lab: a case has more than %d settings", LAB_SETTINGS);
    va_start(args, setting);
    vsnprintf(c->settings[c->setting_count++], LAB_SETTING, setting, args);
    va_end(args);
}

void lab_output_file(lab_case *c, const char *setting, const char *file,
                     const char *(*analyse)(const lab_case *c, const char *path, FILE *out))
{
    c->file_setting = setting;
    snprintf(c->file, sizeof c->file, "%s", file);
    c->analyse = analyse;
}

/* Each line once. */
static void note_missing(lab_plan *p, const char *runtime, const char *why)
{
    char line[640];
    size_t used = strlen(p->left_out);
    int n = snprintf(line, sizeof line, "%s: %s\n", runtime, why);
    if (!strstr(p->left_out, line) && used + (size_t)n < sizeof p->left_out)
        memcpy(p->left_out + used, line, (size_t)n + 1);
}

bool lab_has(lab_plan *p, const workload *w, const char *runtime)
{
    char why[512];
    if (program_exists(w, runtime))
        return true;
    program_why_missing(w, runtime, why, sizeof why);
    note_missing(p, runtime, why);
    return false;
}

/* FNV-1a */
static unsigned long hash_bytes(unsigned long mark, unsigned long long value)
{
    for (int i = 0; i < 8; i++)
        mark = (mark ^ (unsigned long)(value >> 8 * i & 0xff)) * 1099511628211u;
    return mark;
}

unsigned long plan_mark(const lab_plan *p)
{
    unsigned long mark = 14695981039346656037u;
    for (int i = 0; i < p->count; i++) {
        char path[PROGRAM_PATH];
        struct stat s;
        program_path(p->cases[i].workload, p->cases[i].runtime, path, sizeof path);
        if (stat(path, &s) != 0)
            continue;
        mark = hash_bytes(mark, (unsigned long long)s.st_size);
        mark = hash_bytes(mark, (unsigned long long)s.st_mtim.tv_sec);
        mark = hash_bytes(mark, (unsigned long long)s.st_mtim.tv_nsec);
    }
    return mark;
}
