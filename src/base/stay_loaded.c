#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "base/stay_loaded.h"

#include "base/atomic.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

/* Weak: dlopen is in the C library or in libdl, which we do not link.  Static programs do not have
 * it. */
__attribute__((weak)) int dladdr(const void *at, Dl_info *info);
__attribute__((weak)) void *dlopen(const char *file, int mode);

/* The main program is never unloaded, and the loader would not find its file. */
static bool is_program(const Dl_info *object)
{
    const void *headers = (const void *)(uintptr_t)getauxval(AT_PHDR);
    Dl_info program;

    return headers && dladdr(headers, &program) != 0 && program.dli_fbase == object->dli_fbase;
}

/* Two threads may do this at once; the second call changes nothing.  The name is the one that the
 * loader knows, so no file is opened. */
void fi_stay_loaded(void)
{
    static FI_ATOMIC(uint32_t) done;
    Dl_info object;

    if (fi_load_relaxed(&done) || !dladdr || !dlopen)
        return;
    if (dladdr((const void *)&done, &object) != 0 && object.dli_fname && !is_program(&object))
        (void)dlopen(object.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    fi_store_relaxed(&done, 1u);
}
