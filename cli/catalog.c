#include "catalog.h"

#include <stdio.h>
#include <string.h>

const char serial_name[] = "serial";

const workload workloads[] = {
    {"fib", "fib", NULL, 1, "fib(40) by two calls: nothing but spawns"},
    {"tree", "tree", NULL, 1, "a tree of 300 x 300 x 300 nodes: many spawns open at once"},
    {"nqueens", "nqueens", NULL, 1, "12 queens on a board: a task for each that is placed"},
    {"matmul", "matmul", NULL, 10, "matrices of 256 x 256, multiplied by quarters"},
    {"sort-uniform", "sort", "uniform", 1, "merge sort of 64 MB of numbers, spread evenly"},
    {"sort-exponential", "sort", "exponential", 1, "the same, most of them small"},
    {"knapsack", "knapsack", NULL, 1, "26 things, branch and bound: work that depends on luck"},
    {"uts-T1", "uts", "T1", 1, "an unbalanced tree of 4,130,071 nodes, bushy"},
    {"uts-T3", "uts", "T3", 1, "an unbalanced tree of 4,112,897 nodes, deep and thin"},
    {0},
};

const contender runtimes[] = {
    {"filch", NULL, "this library"},
    {"tbb", NULL, "oneTBB, task_group"},
    {"libgomp", "serial-gcc", "OpenMP tasks of gcc"},
    {"libomp", "serial-clang", "OpenMP tasks of clang"},
    {0},
};

const char jobs_name[] = "jobs";

const workload job_rows[] = {
    {"jobs-single", "jobs", "single", 20, "empty jobs, made one by one"},
    {"jobs-for", "jobs", "for", 20, "jobs of a loop that is cut in halves, down to 16 numbers"},
    {0},
};

const contender job_columns[JOB_COLUMNS + 1] = {
    {"basic", NULL,
     "a classical job system: a mutex around each deque, malloc and free for each job"},
    {"allocator", NULL, "the same, with jobs from a ring of each thread"},
    {"lock-free", NULL, "the same, with deques that need no mutex"},
    {"filch", NULL, "tasks: FILCH_SPAWN; filch_for, which makes none where nobody asks for work"},
    {"filch-group", NULL, "filch_group_run: functions to be waited for, from anywhere"},
    {"filch-job", NULL, "filch_job_new, _parent and _submit: each job has a handle"},
    {0},
};

const workload *workload_named(const char *name)
{
    for (const workload *w = workloads; w->name; w++)
        if (strcmp(w->name, name) == 0)
            return w;
    return NULL;
}

const contender *runtime_named(const char *name)
{
    for (const contender *r = runtimes; r->name; r++)
        if (strcmp(r->name, name) == 0)
            return r;
    return NULL;
}

static void add_name(char *out, size_t capacity, const char *name)
{
    size_t used = strlen(out);
    snprintf(out + used, capacity - used, "%s%s", used > 0 ? ", " : "", name);
}

void list_workloads(char *out, size_t capacity)
{
    out[0] = '\0';
    for (const workload *w = workloads; w->name; w++)
        add_name(out, capacity, w->name);
}

void list_runtimes(char *out, size_t capacity)
{
    out[0] = '\0';
    for (const contender *r = runtimes; r->name; r++)
        add_name(out, capacity, r->name);
}
