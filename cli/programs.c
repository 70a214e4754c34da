/* Find the programs of bench/, call them, and check the report that they print. */
#define _GNU_SOURCE
#include "programs.h"

#include "args.h"
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- paths ---- */

/* The directory of this program, without a trailing slash. */
static void own_dir(char *out, size_t capacity)
{
    ssize_t n = readlink("/proc/self/exe", out, capacity - 1);
    out[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
}

/* FILCH_BENCH_DIR; else next to this program, as in a build tree; else as installed. */
static const char *programs_dir(void)
{
    static char found[PROGRAM_PATH];
    const char *directory = getenv("FILCH_BENCH_DIR");
    if (directory && *directory)
        return directory;
    if (found[0] == '\0') {
        char own[PROGRAM_PATH / 2];
        own_dir(own, sizeof own);
        snprintf(found, sizeof found, "%s/programs", own);
        if (access(found, F_OK) != 0)
            snprintf(found, sizeof found, "%s/" FILCH_PROGRAMS_FROM_TOOL, own);
    }
    return found;
}

void program_path(const workload *w, const char *runtime, char *out, size_t capacity)
{
    int n = snprintf(out, capacity, "%s/%s-%s", programs_dir(), w->program, runtime);
    if (n < 0 || (size_t)n >= capacity)
        out[0] = '\0'; /* too long for a path */
}

bool program_exists(const workload *w, const char *runtime)
{
    char path[PROGRAM_PATH];
    program_path(w, runtime, path, sizeof path);
    return access(path, X_OK) == 0;
}

bool program_find(const char *name, char *path, size_t capacity)
{
    int n = snprintf(path, capacity, "%s/%s", programs_dir(), name);
    return n >= 0 && (size_t)n < capacity && access(path, X_OK) == 0;
}

/* Find the line "runtime: reason". */
static bool find_reason(FILE *file, const char *runtime, char *out, size_t capacity)
{
    char line[512];
    size_t length = strlen(runtime);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, runtime, length) == 0 && strncmp(line + length, ": ", 2) == 0) {
            snprintf(out, capacity, "%s", line + length + 2);
            return true;
        }
    }
    return false;
}

/* The build can leave out a program, a workload or a runtime.  The most specific reason comes
 * first. */
static bool find_any_reason(FILE *file, const workload *w, const char *runtime, char *out,
                            size_t capacity)
{
    char program[128];
    snprintf(program, sizeof program, "%s-%s", w->program, runtime);
    const char *const names[] = {program, w->program, runtime};
    for (int i = 0; i < 3; i++) {
        rewind(file);
        if (find_reason(file, names[i], out, capacity))
            return true;
    }
    return false;
}

void program_why_missing(const workload *w, const char *runtime, char *out, size_t capacity)
{
    char path[PROGRAM_PATH];
    snprintf(path, sizeof path, "%s/left-out", programs_dir());
    FILE *file = fopen(path, "re");
    bool found = file && find_any_reason(file, w, runtime, out, capacity);
    if (file)
        fclose(file);
    if (!found)
        snprintf(out, capacity, "no program %s-%s in %s", w->program, runtime, programs_dir());
}

/* ---- reports ---- */

static bool is_whole(const char *line, const char *name, double least, double *out)
{
    return json_number(json_member(line, name), out) && *out >= least;
}

static bool has_text(const char *line, const char *name, const char *text)
{
    char value[64];
    return json_string(json_member(line, name), value, sizeof value) && strcmp(value, text) == 0;
}

static bool read_samples(const char *line, report *r)
{
    const char *samples = json_member(line, "samples");
    const char *s = samples ? json_begin(samples) : NULL;
    for (r->count = 0; s && r->count < SAMPLES_MAX; s = json_next(s)) {
        double seconds;
        if (!json_number(s, &seconds) || seconds < 0)
            return false;
        r->samples[r->count++] = seconds;
    }
    return r->count > 0 && !s;
}

/* Read as an integer, because a double cannot hold some results. */
static bool read_result(const char *line, int64_t *out)
{
    double any;
    const char *value = json_member(line, "result");
    if (!json_number(value, &any))
        return false;
    *out = strtoll(value, NULL, 10);
    return true;
}

/* Is each of them a name with `count` numbers? */
static bool metrics_are_valid(const char *metrics, int count)
{
    int all = 0;
    for (const char *f = json_begin(metrics); f; f = json_next(f), all++) {
        char name[METRIC_NAME_SIZE];
        int n = 0;
        double value;
        if (!json_string(f, name, sizeof name))
            return false;
        for (const char *v = json_begin(json_value(f)); v; v = json_next(v), n++)
            if (!json_number(v, &value))
                return false;
        if (n != count)
            return false;
    }
    return all > 0 && all <= METRICS_MAX;
}

static const char *read_report(const call *what, const char *line, report *r)
{
    double workers, size, spawns, peak;
    if (!json_is_object(line))
        return "did not print a line of JSON";
    if (!has_text(line, "workload", what->workload->name) ||
        !has_text(line, "runtime", what->runtime) || !is_whole(line, "workers", 1, &workers) ||
        workers != what->workers)
        return "reported another run than requested";
    if (!is_whole(line, "size", 0, &size) || !is_whole(line, "spawns", 0, &spawns) ||
        !is_whole(line, "peak_kb", 0, &peak) || !read_result(line, &r->result) ||
        !read_samples(line, r) || r->count != what->repetitions)
        return "printed an invalid report";
    r->metrics = json_member(line, "metrics");
    if (r->metrics && !metrics_are_valid(r->metrics, r->count))
        return "printed an invalid report";
    r->size = (long)size;
    r->peak_kb = (long)peak;
    r->spawns = (uint64_t)spawns;
    r->counters = json_member(line, "counters");
    return NULL;
}

/* ---- calls ---- */

enum { ARGS_MAX = 16 };

static void args_for(const call *what, const char *path, char numbers[2][16], char *argv[ARGS_MAX])
{
    int n = 0;
    snprintf(numbers[0], sizeof numbers[0], "%u", what->workers);
    snprintf(numbers[1], sizeof numbers[1], "%d", what->repetitions);
    const char *const words[] = {path, "-w", numbers[0], "-r", numbers[1]};
    for (; n < 5; n++)
        argv[n] = (char *)words[n];
    if (what->quick)
        argv[n++] = (char *)"-q";
    if (what->size) {
        argv[n++] = (char *)"-n";
        argv[n++] = (char *)what->size;
    }
    if (what->workload->input) {
        argv[n++] = (char *)"-i";
        argv[n++] = (char *)what->workload->input;
    }
    argv[n] = NULL;
}

/* Why the program failed, or NULL. */
static const char *bad_end(const child *c, char *text, size_t capacity)
{
    if (c->timed_out)
        snprintf(text, capacity, "timed out and was killed");
    else if (c->signal != 0)
        snprintf(text, capacity, "was killed by a signal: %s", strsignal(c->signal));
    else if (c->code != 0)
        snprintf(text, capacity, "exited with %d", c->code);
    else if (c->is_truncated)
        snprintf(text, capacity, "printed too much");
    else
        return NULL;
    return text;
}

/* What the program says of its arguments, without its name. */
static const char *usage_message(const child *c)
{
    const char *colon = strstr(c->errors, ": ");
    return colon ? colon + 2 : c->errors;
}

const char *program_call(const call *what, child *c, report *r, bool *is_usage_error)
{
    static char text[CHILD_ERRORS_SIZE + PROGRAM_PATH];
    char path[PROGRAM_PATH], numbers[2][16], *argv[ARGS_MAX];
    program_path(what->workload, what->runtime, path, sizeof path);
    args_for(what, path, numbers, argv);
    int e = child_run(c, argv, NULL, what->seconds);
    *is_usage_error = e == 0 && c->code == EXIT_USAGE;
    if (e < 0)
        return strerror(-e);
    c->errors[strcspn(c->errors, "\n")] = '\0';
    if (*is_usage_error && c->errors[0] != '\0')
        return usage_message(c);
    const char *why = bad_end(c, text, sizeof text);
    if (!why)
        return read_report(what, c->output, r);
    if (c->errors[0] != '\0')
        snprintf(text + strlen(text), sizeof text - strlen(text), ": %s", c->errors);
    return text;
}
