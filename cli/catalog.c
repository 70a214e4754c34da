/* The tables of workloads and runtimes, and their lookup by name. */
#include "catalog.h"

#include <stdio.h>
#include <string.h>

const char serial_name[] = "serial";

const workload workloads[] = {
    {"fib", "fib", NULL, 1, "fib(40) by two recursive calls: only spawns"},
    {"tree", "tree", NULL, 1, "a tree of 300 x 300 x 300 nodes: many outstanding spawns"},
    {"nqueens", "nqueens", NULL, 1, "12 queens, a task for each placed queen"},
    {"matmul", "matmul", NULL, 10, "product of matrices of 256 x 256, divided into quarters"},
    {"sort-uniform", "sort", "uniform", 1, "merge sort of 64 MB of uniform numbers"},
    {"sort-exponential", "sort", "exponential", 1, "merge sort of 64 MB of exponential numbers"},
    {"knapsack", "knapsack", NULL, 1, "26 items by branch and bound: work depends on the schedule"},
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
    {"jobs-single", "jobs", "single", 20, "empty jobs, created one by one"},
    {"jobs-for", "jobs", "for", 20, "jobs of a loop, split into halves down to 16 numbers"},
    {0},
};

const contender job_columns[JOB_COLUMNS + 1] = {
    {"basic", NULL,
     "a classical job system: a mutex around each deque, malloc and free for each job"},
    {"allocator", NULL, "the same, with a ring of jobs in each thread"},
    {"lock-free", NULL, "the same, with lock-free deques"},
    {"filch", NULL, "tasks: FILCH_SPAWN and filch_for"},
    {"filch-group", NULL, "filch_group_run"},
    {"filch-job", NULL, "filch_job_new, _set_parent and _submit: each job has a handle"},
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
