/* Find names for trace_json.c. */
#include "observe/trace_names.h"

#include "debug/dump.h"

const char *fi_trace_names_function(fi_trace_names *n, uintptr_t function)
{
    size_t at = function / 16 % (sizeof n->cache / sizeof *n->cache);

    if (n->cache[at].function != function) {
        n->cache[at].function = function;
        fi_function_name((const void *)function, n->cache[at].name, sizeof n->cache[at].name);
    }
    return n->cache[at].name;
}

const char *fi_trace_names_fiber(fi_trace_names *n, const fi_runtime *rt, const fi_trace_id *t)
{
    static const char *const kinds[] = {"fiber", "task", "job"};

    if (t->name)
        return fi_intern_text(rt->names, t->name);
    if (t->function)
        return fi_trace_names_function(n, t->function);
    return kinds[t->work <= FI_WORK_JOB ? t->work : 0];
}
