/* Backtraces of parked fibers.  The stack is unwound with the tables that exceptions use, from a
 * simulated call at the point where the fiber left its worker.  Nothing is written to the stack. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "debug/dump.h"
#include "debug/elf_symbols.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unwind.h>

/* Weak: they may be in a library that is not linked, and static programs have none of them. */
__attribute__((weak)) int dladdr(const void *at, Dl_info *info);
__attribute__((weak)) void *dlopen(const char *file, int mode);
__attribute__((weak)) void *dlsym(void *restrict library, const char *restrict name);

/* The unwinder of libgcc, loaded with the first backtrace. */
typedef _Unwind_Reason_Code backtrace_function(_Unwind_Trace_Fn step, void *arg);
typedef _Unwind_Ptr get_ip_function(struct _Unwind_Context *context);
static backtrace_function *unwind_backtrace;
static get_ip_function *unwind_get_ip;

static void *library_symbol(void *library, const char *name)
{
    return library ? dlsym(library, name) : NULL;
}

/* [watchdog thread, or caller of fi_dump; one at a time] */
static bool load_unwinder(void)
{
    void *library = unwind_get_ip || !dlopen || !dlsym ? NULL : dlopen("libgcc_s.so.1", RTLD_NOW);
    void *backtrace = library_symbol(library, "_Unwind_Backtrace"),
         *ip = library_symbol(library, "_Unwind_GetIP");

    if (backtrace && ip) {
        memcpy(&unwind_backtrace, &backtrace, sizeof backtrace);
        memcpy(&unwind_get_ip, &ip, sizeof ip);
    }
    return unwind_get_ip != NULL;
}

typedef struct trace {
    uintptr_t begin; /* pc of the innermost frame of the fiber */
    const void **at;
    unsigned n, max;
    bool begun; /* begin was reached */
} trace;

static _Unwind_Reason_Code trace_step(struct _Unwind_Context *context, void *arg)
{
    trace *t = arg;
    uintptr_t pc = (uintptr_t)unwind_get_ip(context);

    t->begun |= pc == t->begin;
    if (!t->begun)
        return _URC_NO_REASON;
    if (pc == 0 || t->n == t->max)
        return _URC_END_OF_STACK;
    t->at[t->n++] = (const void *)pc;
    return _URC_NO_REASON;
}

static void trace_run(void *arg)
{
    unwind_backtrace(trace_step, arg);
}

unsigned fi_backtrace(const fi_fiber *f, const void **at, unsigned max)
{
    trace t = {.begin = (uintptr_t)fi_ctx_pc(&f->ctx), .at = at, .max = max};

    if (load_unwinder())
        fi_ctx_unwind_from(&f->ctx, trace_run, &t);
    return t.n;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool fi_frame_is_internal(const void *at)
{
    Dl_info i = {0};

    return dladdr && dladdr(at, &i) != 0 && i.dli_fname && !i.dli_sname &&
           strncmp(file_name(i.dli_fname), "libfilch.so", 11) == 0;
}

void fi_frame_name(const void *at, char *text, size_t size)
{
    Dl_info i = {0};

    if (!dladdr || dladdr(at, &i) == 0 || !i.dli_fname)
        snprintf(text, size, "%p", at);
    else if (i.dli_sname)
        snprintf(text, size, "%s+%#tx (%s)", i.dli_sname,
                 (const char *)at - (const char *)i.dli_saddr, file_name(i.dli_fname));
    else
        snprintf(text, size, "%s+%#tx", file_name(i.dli_fname),
                 (const char *)at - (const char *)i.dli_fbase);
}

/* The file of the program may have been moved since it was started. */
static const char *loaded_file(const Dl_info *i)
{
    Dl_info program = {0};
    const void *headers = (const void *)getauxval(AT_PHDR);

    if (headers && dladdr(headers, &program) != 0 && program.dli_fbase == i->dli_fbase)
        return "/proc/self/exe";
    return i->dli_fname;
}

void fi_function_name(const void *at, char *text, size_t size)
{
    Dl_info i = {0};
    ptrdiff_t offset;

    if (!dladdr || dladdr(at, &i) == 0 || !i.dli_fname)
        snprintf(text, size, "%p", at);
    else if (i.dli_sname && i.dli_saddr == at)
        snprintf(text, size, "%s", i.dli_sname);
    else if (!fi_elf_symbol_find(loaded_file(&i), i.dli_fbase, at, text, size, &offset) ||
             offset != 0)
        fi_frame_name(at, text, size);
}
