/* Where a fiber is that is away: its stack is unwound by the same tables that exceptions use, from a call that pretends to
 * come from the point where the fiber left.  Nothing is written there. */
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

/* In the C library, or in one of its own that we do not ask for; programs without shared libraries have none. */
__attribute__((weak)) int dladdr(const void *at, Dl_info *info);
__attribute__((weak)) void *dlopen(const char *file, int mode);
__attribute__((weak)) void *dlsym(void *restrict library, const char *restrict name);

/* The compiler's own library unwinds.  Only who wants a trace needs it, so it is looked for then. */
typedef _Unwind_Reason_Code backtracer(_Unwind_Trace_Fn step, void *arg);
typedef _Unwind_Ptr pc_reader(struct _Unwind_Context *context);
static backtracer *backtrace_by;
static pc_reader *read_pc;

static void *find(void *library, const char *name)
{
    return library ? dlsym(library, name) : NULL;
}

/* [watcher, or who dumps, one at a time] */
static bool find_unwinder(void)
{
    void *library = read_pc || !dlopen || !dlsym ? NULL : dlopen("libgcc_s.so.1", RTLD_NOW);
    void *backtrace = find(library, "_Unwind_Backtrace"), *ip = find(library, "_Unwind_GetIP");

    if (backtrace && ip) {
        memcpy(&backtrace_by, &backtrace, sizeof backtrace);
        memcpy(&read_pc, &ip, sizeof ip);
    }
    return read_pc != NULL;
}

typedef struct trace {
    uintptr_t begin; /* where the fiber's own frames begin */
    const void **at;
    unsigned n, most;
    bool on;
} trace;

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg)
{
    trace *t = arg;
    uintptr_t pc = (uintptr_t)read_pc(context);

    t->on |= pc == t->begin;
    if (!t->on)
        return _URC_NO_REASON;
    if (pc == 0 || t->n == t->most)
        return _URC_END_OF_STACK;
    t->at[t->n++] = (const void *)pc;
    return _URC_NO_REASON;
}

static void unwind(void *arg)
{
    backtrace_by(step, arg);
}

unsigned fi_frames_of(const fi_fiber *f, const void **at, unsigned most)
{
    trace t = {.begin = (uintptr_t)fi_ctx_pc(&f->ctx), .at = at, .most = most};

    if (find_unwinder())
        fi_ctx_unwind_from(&f->ctx, unwind, &t);
    return t.n;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool fi_frame_is_inside(const void *at)
{
    Dl_info i = {0};

    return dladdr && dladdr(at, &i) != 0 && i.dli_fname && !i.dli_sname &&
           strncmp(last_part(i.dli_fname), "libfilch.so", 11) == 0;
}

void fi_frame_name(const void *at, char *text, size_t size)
{
    Dl_info i = {0};

    if (!dladdr || dladdr(at, &i) == 0 || !i.dli_fname)
        snprintf(text, size, "%p", at);
    else if (i.dli_sname)
        snprintf(text, size, "%s+%#tx (%s)", i.dli_sname,
                 (const char *)at - (const char *)i.dli_saddr, last_part(i.dli_fname));
    else
        snprintf(text, size, "%s+%#tx", last_part(i.dli_fname),
                 (const char *)at - (const char *)i.dli_fbase);
}

/* The program itself may be called by any name, and have gone elsewhere since. */
static const char *file_of(const Dl_info *i)
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
    else if (!fi_elf_symbol_find(file_of(&i), i.dli_fbase, at, text, size, &offset) || offset != 0)
        fi_frame_name(at, text, size);
}
