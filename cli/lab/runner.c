/* Call the programs of all cases, round by round, and append each result to the journal.  Called by
 * lab.c. */
#define _GNU_SOURCE
#include "runner.h"

#include "args.h"
#include "json.h"
#include "machine.h"
#include "plan.h"
#include "programs.h"
#include "progress.h"
#include "run_header.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- calls of an earlier run ---- */

static void call_key(const lab_case *c, int round, char out[LAB_KEY])
{
    snprintf(out, LAB_KEY, "%s#%d", c->name, round);
}

static bool is_done(const lab_run *run, int i, int round)
{
    char key[LAB_KEY];
    call_key(&run->plan->cases[i], round, key);
    return results_find(run->journal.results, key) != NULL;
}

static void count_earlier_calls(lab_run *run)
{
    for (int i = 0; i < run->plan->count; i++) {
        for (int round = 0; round < run->plan->rounds; round++) {
            char key[LAB_KEY];
            call_key(&run->plan->cases[i], round, key);
            const lab_result *l = results_find(run->journal.results, key);
            if (l) {
                run->seconds[i] += l->seconds;
                run->calls[i]++;
            }
        }
    }
}

const char *lab_run_open(lab_run *run, const lab_experiment *e, const lab_options *o)
{
    char path[PATH_MAX];
    run->of = e;
    run->plan = plan_new(e, o);
    char *head = run->plan ? run_header(e, o, run->plan) : NULL;
    if (!head)
        return "no memory for the plan";
    const char *why = NULL;
    if (!o->out)
        why = journal_in_memory(&run->journal, head);
    else if (snprintf(path, sizeof path, "%s/raw/%s.jsonl", o->out, e->name) >= (int)sizeof path)
        why = "the name of the folder is too long";
    else
        why = journal_open(&run->journal, path, head, o->restart);
    free(head);
    if (!why)
        count_earlier_calls(run);
    return why;
}

void lab_run_close(lab_run *run)
{
    free(run->plan);
    journal_close(&run->journal);
    *run = (lab_run){0};
}

/* ---- time left ---- */

static double mean_seconds(double sum, int n)
{
    return n > 0 ? sum / n : -1;
}

/* Mean time of all calls so far. */
static double estimated_seconds(const lab_run *runs, int n)
{
    double sum = 0;
    int calls = 0;
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < runs[r].plan->count; i++) {
            sum += runs[r].seconds[i];
            calls += runs[r].calls[i];
        }
    }
    return mean_seconds(sum, calls);
}

static int calls_left(const lab_run *run, int i)
{
    return run->plan->cases[i].failed ? 0 : run->plan->rounds - run->calls[i];
}

/* Estimated time of a call: the mean of this case; else of its experiment; else the estimate of
 * the plan; else the mean of all. */
static double seconds_of(const lab_run *run, int i, double of_run, double of_all)
{
    const double known[] = {mean_seconds(run->seconds[i], run->calls[i]), of_run,
                            run->plan->seconds > 0 ? run->plan->seconds : -1, of_all};
    for (int k = 0; k < 4; k++)
        if (known[k] >= 0)
            return known[k];
    return -1;
}

/* Negative: unknown. */
static double seconds_left(const lab_run *runs, int n)
{
    double left = 0, of_all = estimated_seconds(runs, n);
    for (int r = 0; r < n; r++) {
        double of_run = estimated_seconds(&runs[r], 1);
        for (int i = 0; i < runs[r].plan->count; i++) {
            double of_case = seconds_of(&runs[r], i, of_run, of_all);
            if (of_case < 0)
                return -1;
            left += calls_left(&runs[r], i) * of_case;
        }
    }
    return left;
}

static void count_calls(const lab_run *runs, int n, int *done, int *all)
{
    *done = *all = 0;
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < runs[r].plan->count; i++) {
            *all += runs[r].plan->rounds;
            *done += runs[r].plan->rounds - calls_left(&runs[r], i);
        }
    }
}

static void show_progress(const lab_run *runs, int n, const lab_run *run, const lab_case *c,
                          int round)
{
    int done, all;
    char what[256];
    count_calls(runs, n, &done, &all);
    snprintf(what, sizeof what, "%s: %s, round %d of %d", run->of->name, c->name, round + 1,
             run->plan->rounds);
    progress_show(done, all, seconds_left(runs, n), what);
}

/* ---- settings ---- */

/* Saved variables of the environment. */
typedef struct saved_variable {
    char name[LAB_SETTING];
    char *value; /* NULL: not set */
} saved_variable;

static void variable_set(const char *name, const char *value, saved_variable *k)
{
    const char *before = getenv(name);
    snprintf(k->name, sizeof k->name, "%s", name);
    k->value = before ? strdup(before) : NULL;
    setenv(name, value, 1);
}

static int settings_apply(const lab_case *c, const char *path, saved_variable k[LAB_SETTINGS + 1])
{
    int n = 0;
    for (; n < c->setting_count; n++) {
        char name[LAB_SETTING];
        const char *equals = strchr(c->settings[n], '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - c->settings[n]), c->settings[n]);
        variable_set(name, equals + 1, &k[n]);
    }
    if (c->file_setting)
        variable_set(c->file_setting, path, &k[n++]);
    return n;
}

static void settings_restore(saved_variable *k, int n)
{
    while (n-- > 0) {
        if (k[n].value)
            setenv(k[n].name, k[n].value, 1);
        else
            unsetenv(k[n].name);
        free(k[n].value);
    }
}

/* ---- a call ---- */

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The path of the program's file: next to the journal, or a temporary one. */
static const char *file_path(const lab_case *c, const lab_options *o, char path[PATH_MAX])
{
    char folder[] = "/tmp/filch-lab-XXXXXX";
    path[0] = '\0';
    if (!c->file_setting)
        return NULL;
    if (!o->out && !mkdtemp(folder))
        return strerror(errno);
    int n = o->out ? snprintf(path, PATH_MAX, "%s/raw/%s", o->out, c->file)
                   : snprintf(path, PATH_MAX, "%s/%s", folder, c->file);
    return n < PATH_MAX ? NULL : "the name of the folder is too long";
}

static void remove_file(const lab_case *c, const lab_options *o, char path[PATH_MAX])
{
    if (!c->file_setting || o->out || path[0] == '\0')
        return;
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

/* Call the program and write its line and the content of its file.  Returns NULL, or why it
 * failed. */
static const char *call_program(const lab_case *c, const lab_options *o, const char *path,
                                FILE *out)
{
    static child ch;
    saved_variable k[LAB_SETTINGS + 1];
    report r;
    bool is_usage_error;
    call what = {c->workload, c->runtime, c->workers, c->workload->per_call,
                 NULL,        o->quick,   o->seconds};
    if (c->size[0] != '\0') {
        what.size = c->size;
        what.quick = false;
    }
    int n = settings_apply(c, path, k);
    const char *why = program_call(&what, &ch, &r, &is_usage_error);
    settings_restore(k, n);
    if (why)
        return why;
    for (char *p = ch.output; *p != '\0'; p++)
        if (*p == '\n')
            *p = ' ';
    fprintf(out, ",\"report\":%s", ch.output);
    if (!c->analyse)
        return NULL;
    fputs(",\"analysis\":", out);
    return c->analyse(c, path, out);
}

/* A line of the journal, to be freed: the result of the call, or why it failed (*why). */
static char *call_line(const lab_case *c, int round, const lab_options *o, const char **why,
                       double *seconds)
{
    char key[LAB_KEY], path[PATH_MAX] = "", *line = NULL, *members = NULL;
    size_t length;
    double began = now_seconds();
    FILE *out = open_memstream(&members, &length);
    *why = out ? file_path(c, o, path) : "out of memory for a line";
    if (out && !*why)
        *why = call_program(c, o, path, out);
    if (out && fclose(out) != 0 && !*why)
        *why = "out of memory for a line";
    *seconds = now_seconds() - began;
    remove_file(c, o, path);
    call_key(c, round, key);
    out = open_memstream(&line, &length);
    if (out) {
        fprintf(out, "{\"key\":\"%s\",\"seconds\":%.3f", key, *seconds);
        if (*why) {
            fputs(",\"failed\":", out);
            json_write(out, *why);
        } else {
            fputs(members, out);
        }
        fputs("}", out);
        if (fclose(out) != 0)
            *why = "out of memory for a line";
    }
    free(members);
    return line;
}

/* EXIT_FAILED: the journal cannot be written. */
static int call_and_record(lab_run *run, int i, int round, const lab_options *o)
{
    lab_case *c = &run->plan->cases[i];
    const char *why;
    double seconds;
    char *line = call_line(c, round, o, &why, &seconds);
    if (why) {
        progress_clear();
        fprintf(stderr, "filch: %s: %s %s\n", run->of->name, c->name, why);
        c->failed = true;
    } else {
        run->seconds[i] += seconds;
        run->calls[i]++;
    }
    const char *lost = line ? journal_append(&run->journal, line) : "out of memory for a line";
    free(line);
    if (!lost)
        return EXIT_OK;
    progress_clear();
    fprintf(stderr, "filch: %s\n", lost);
    return EXIT_FAILED;
}

static int run_experiment(lab_run *runs, int n, lab_run *run, const lab_options *o)
{
    for (int round = 0; round < run->plan->rounds; round++) {
        for (int i = 0; i < run->plan->count; i++) {
            if (run->plan->cases[i].failed || is_done(run, i, round))
                continue;
            show_progress(runs, n, run, &run->plan->cases[i], round);
            if (call_and_record(run, i, round, o) != EXIT_OK)
                return EXIT_FAILED;
        }
    }
    return EXIT_OK;
}

static bool has_failed(const lab_run *run)
{
    for (int i = 0; i < run->plan->count; i++)
        if (run->plan->cases[i].failed)
            return true;
    return false;
}

int runner_run_all(lab_run *runs, int n, const lab_options *o, bool *failed)
{
    int end = EXIT_OK;
    child_catch_signals();
    for (int i = 0; i < n && end == EXIT_OK; i++) {
        end = run_experiment(runs, n, &runs[i], o);
        *failed |= has_failed(&runs[i]);
    }
    progress_clear();
    return end;
}
