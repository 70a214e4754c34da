/* Read the lines of a journal, and find the values of a case in them, for experiments. */
#define _GNU_SOURCE
#include "results.h"

#include "json.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

lab_results *results_new(const char *head)
{
    const char *options = json_is_object(head) ? json_member(head, "options") : NULL;
    lab_results *r = options && *options == '{' ? calloc(1, sizeof *r) : NULL;
    if (r && !(r->head = strdup(head))) {
        free(r);
        return NULL;
    }
    return r;
}

void results_free(lab_results *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->count; i++)
        free(r->all[i].line);
    while (r->arrays) {
        lab_array *next = r->arrays->next;
        free(r->arrays);
        r->arrays = next;
    }
    free(r->all);
    free(r->head);
    free(r);
}

/* ---- lines ---- */

static bool is_object(const char *value)
{
    return value && *value == '{';
}

/* Either output or a reason of failure. */
static bool read_line(lab_result *l)
{
    if (!json_is_object(l->line) ||
        !json_string(json_member(l->line, "key"), l->key, sizeof l->key) || !strchr(l->key, '#') ||
        !json_number(json_member(l->line, "seconds"), &l->seconds))
        return false;
    l->report = json_member(l->line, "report");
    l->analysis = json_member(l->line, "analysis");
    l->failed = json_member(l->line, "failed");
    return is_object(l->report) != (l->failed != NULL) && (!l->analysis || is_object(l->analysis));
}

static int results_reserve(lab_results *r)
{
    if (r->count < r->capacity)
        return 0;
    int capacity = 2 * r->capacity + 64;
    lab_result *all = realloc(r->all, (size_t)capacity * sizeof *all);
    if (!all)
        return -ENOMEM;
    r->all = all;
    r->capacity = capacity;
    return 0;
}

int results_add(lab_results *r, const char *line)
{
    lab_result l = {.line = strdup(line)};
    if (!l.line || results_reserve(r) < 0) {
        free(l.line);
        return -ENOMEM;
    }
    if (!read_line(&l)) {
        free(l.line);
        return -EINVAL;
    }
    r->all[r->count++] = l;
    return 0;
}

const lab_result *results_find(const lab_results *r, const char *key)
{
    for (int i = 0; i < r->count; i++)
        if (!r->all[i].failed && strcmp(r->all[i].key, key) == 0)
            return &r->all[i];
    return NULL;
}

double results_seconds(const lab_results *r)
{
    double all = 0;
    for (int i = 0; i < r->count; i++)
        all += r->all[i].seconds;
    return all;
}

int results_n_good(const lab_results *r)
{
    int good = 0;
    for (int i = 0; i < r->count; i++)
        good += results_find(r, r->all[i].key) == &r->all[i];
    return good;
}

/* ---- the head ---- */

const char *results_head(const lab_results *r, const char *member)
{
    return json_member(r->head, member);
}

double results_option(const lab_results *r, const char *member)
{
    double value = 0;
    json_number(json_member(results_head(r, "options"), member), &value);
    return value;
}

bool lab_was_quick(const lab_results *r)
{
    const char *quick = json_member(results_head(r, "options"), "quick");
    return quick && strncmp(quick, "true", 4) == 0;
}

unsigned lab_workers(const lab_results *r)
{
    return (unsigned)results_option(r, "workers");
}

unsigned lab_cpus(const lab_results *r)
{
    return (unsigned)results_option(r, "cpus");
}

int lab_rounds(const lab_results *r)
{
    return (int)results_option(r, "rounds");
}

const char *lab_args(const lab_results *r)
{
    static char args[256];
    if (!json_string(json_member(results_head(r, "options"), "args"), args, sizeof args))
        args[0] = '\0';
    return args;
}

/* ---- numbers ---- */

/* Gets the numbers of one call.  out = NULL: only counts them. */
typedef int getter(const lab_result *l, const char *what, double *out);

static bool is_of(const lab_result *l, const char *name)
{
    size_t length = strlen(name);
    return !l->failed && strncmp(l->key, name, length) == 0 && l->key[length] == '#';
}

static int get_all(const lab_results *r, const char *name, getter *get, const char *what,
                   double *out)
{
    int n = 0;
    for (int i = 0; i < r->count; i++)
        if (is_of(&r->all[i], name))
            n += get(&r->all[i], what, out ? out + n : NULL);
    return n;
}

static int get_array(const char *array, double *out)
{
    int n = 0;
    for (const char *v = array ? json_begin(array) : NULL; v; v = json_next(v)) {
        double value;
        if (!json_number(v, &value))
            continue;
        if (out)
            out[n] = value;
        n++;
    }
    return n;
}

static int get_sample(const lab_result *l, const char *what, double *out)
{
    (void)what;
    return get_array(json_member(l->report, "samples"), out);
}

static int get_metric(const lab_result *l, const char *what, double *out)
{
    const char *metrics = json_member(l->report, "metrics");
    return get_array(metrics ? json_member(metrics, what) : NULL, out);
}

/* One number per call. */
static int get_median(const lab_result *l, const char *what, double *out)
{
    getter *get = what ? get_metric : get_sample;
    int n = get(l, what, NULL);
    double *all = n > 0 && out ? malloc((size_t)n * sizeof *all) : NULL;
    if (all) {
        get(l, what, all);
        *out = statistics_median((lab_numbers){all, n});
        free(all);
    } else if (n > 0 && out) {
        *out = NAN;
    }
    return n > 0;
}

static int get_member(const lab_result *l, const char *what, double *out)
{
    double value;
    if (!json_number(json_member(l->report, what), out ? out : &value))
        return 0;
    return 1;
}

/* The first value of a counter is the sum over all workers. */
static int get_counter(const lab_result *l, const char *what, double *out)
{
    const char *counters = json_member(l->report, "counters");
    const char *all = counters ? json_member(counters, what) : NULL;
    const char *sum = all ? json_begin(all) : NULL;
    int repetitions = get_sample(l, NULL, NULL);
    double value;
    if (!sum || !json_number(sum, &value) || repetitions == 0)
        return 0;
    if (out)
        *out = value / repetitions;
    return 1;
}

/* The arrays belong to the results, which are logically const. */
lab_numbers lab_values(const lab_results *r, lab_value kind, const char *what, const char *format,
                       ...)
{
    static getter *const getters[] = {[LAB_SAMPLES] = get_sample,
                                      [LAB_MEDIANS] = get_median,
                                      [LAB_METRIC] = get_metric,
                                      [LAB_COUNTER] = get_counter,
                                      [LAB_MEMBER] = get_member};
    char name[LAB_NAME];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    int n = get_all(r, name, getters[kind], what, NULL);
    lab_array *a = n > 0 ? malloc(sizeof *a + (size_t)n * sizeof a->values[0]) : NULL;
    if (!a)
        return (lab_numbers){NULL, 0};
    lab_results *owner = (lab_results *)r;
    a->next = owner->arrays;
    owner->arrays = a;
    get_all(r, name, getters[kind], what, a->values);
    return (lab_numbers){a->values, n};
}

const char *lab_analysis(const lab_results *r, const char *format, ...)
{
    char name[LAB_NAME];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    for (int i = r->count - 1; i >= 0; i--)
        if (is_of(&r->all[i], name) && r->all[i].analysis)
            return r->all[i].analysis;
    return NULL;
}
