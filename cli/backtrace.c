/* Backtraces and names of functions of another process.  libdw unwinds the copy of a stack as if
 * the fiber were a thread. */
#define _GNU_SOURCE
#include "backtrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FILCH_HAVE_LIBDW

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

/* DWARF numbers of stack pointer, frame pointer and the callee-saved register that a switch saves.
 * The program counter is set separately. */
#if defined __x86_64__
static const int register_numbers[] = {7, 6, 3};
#elif defined __aarch64__
static const int register_numbers[] = {31, 29, 19};
#endif

/* The functions of a static library in a module; end is 0: there are none. */
typedef struct static_range {
    Dwfl_Module *module;
    uint64_t begin, end;
} static_range;

enum { RANGES_MAX = 8 };

struct symbols {
    Dwfl *dwfl;
    static_range ranges[RANGES_MAX];
    int n_ranges;
    const stack_copy *stack; /* of the fiber that is unwound */
    uint64_t *at;
    unsigned n;
};

/* ---- files ---- */

/* libdw passes no argument to find_elf. */
static pid_t reported_pid;

/* Through the root of the process, which may be in a container; by its own link if the program was
 * deleted. */
static int find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                    char **file, Elf **elf)
{
    char path[PATH_MAX], exe[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)reported_pid);
    ssize_t n = readlink(path, exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    if (strcmp(exe, name) != 0)
        snprintf(path, sizeof path, "/proc/%d/root%s", (int)reported_pid, name);
    int fd = name[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0)
        return dwfl_linux_proc_find_elf(module, data, name, base, file, elf);
    *file = strdup(name);
    return fd;
}

/* ---- a fiber as a thread ---- */

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
    (void)dwfl, (void)tid;
    *thread_arg = arg;
    return true;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
    (void)dwfl;
    *thread_arg = arg;
    return 0;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
    const uint64_t *r = ((symbols *)arg)->stack->registers;
    const uint64_t values[] = {r[0], r[2], r[3]};
    for (int i = 0; i < 3; i++) {
        Dwarf_Word value = values[i];
        if (!dwfl_thread_state_registers(thread, register_numbers[i], 1, &value))
            return false;
    }
    dwfl_thread_state_register_pc(thread, r[1]);
    return true;
}

static bool read_stack(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *arg)
{
    const stack_copy *s = ((symbols *)arg)->stack;
    uint64_t offset = address - s->registers[0];
    (void)dwfl;
    if (offset > s->size || s->size - offset < sizeof *result)
        return false;
    memcpy(result, s->bytes + offset, sizeof *result);
    return true;
}

static int add_frame(Dwfl_Frame *frame, void *arg)
{
    symbols *s = arg;
    Dwarf_Addr pc;
    if (!dwfl_frame_pc(frame, &pc, NULL) || pc == 0)
        return DWARF_CB_ABORT;
    s->at[s->n++] = pc;
    return s->n == FRAMES_MAX ? DWARF_CB_ABORT : DWARF_CB_OK;
}

unsigned backtrace_read(symbols *s, const stack_copy *stack, uint64_t at[FRAMES_MAX])
{
    s->stack = stack;
    s->at = at;
    s->n = 0;
    if (stack->registers[1] != 0)
        dwfl_getthread_frames(s->dwfl, 1, add_frame, s);
    return s->n;
}

/* ---- opening ---- */

static bool symbols_attach(symbols *s, pid_t pid)
{
    static const Dwfl_Callbacks files = {
        .find_elf = find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
    };
    static const Dwfl_Thread_Callbacks fibers = {
        .next_thread = next_thread,
        .get_thread = get_thread,
        .memory_read = read_stack,
        .set_initial_registers = set_registers,
    };
    reported_pid = pid;
    s->dwfl = dwfl_begin(&files);
    return s->dwfl && dwfl_linux_proc_report(s->dwfl, pid) == 0 &&
           dwfl_report_end(s->dwfl, NULL, NULL) == 0 &&
           dwfl_attach_state(s->dwfl, NULL, pid, &fibers, s);
}

symbols *symbols_open(pid_t pid, const char **why)
{
    symbols *s = calloc(1, sizeof *s);
    if (s && symbols_attach(s, pid))
        return s;
    *why = s ? dwfl_errmsg(-1) : "out of memory";
    symbols_close(s);
    return NULL;
}

void symbols_close(symbols *s)
{
    if (s && s->dwfl)
        dwfl_end(s->dwfl);
    free(s);
}

/* ---- names ---- */

static const char *module_file(Dwfl_Module *m, Dwarf_Addr *start)
{
    const char *name = dwfl_module_info(m, NULL, start, NULL, NULL, NULL, NULL, NULL);
    const char *slash = name ? strrchr(name, '/') : NULL;
    return slash ? slash + 1 : name ? name : "?";
}

static void append_source(Dwfl_Module *m, uint64_t address, char *text, size_t size)
{
    Dwfl_Line *line = dwfl_module_getsrc(m, address);
    int number = 0;
    const char *file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    const char *slash = file ? strrchr(file, '/') : NULL;
    size_t used = strlen(text);
    if (file)
        snprintf(text + used, size - used, " %s:%d", slash ? slash + 1 : file, number);
}

void symbol_name(symbols *s, uint64_t address, char *text, size_t size)
{
    Dwfl_Module *m = s ? dwfl_addrmodule(s->dwfl, address) : NULL;
    Dwarf_Addr start = 0;
    GElf_Off offset = 0;
    GElf_Sym symbol;
    if (!m) {
        snprintf(text, size, "%#" PRIx64, address);
        return;
    }
    const char *file = module_file(m, &start);
    const char *name = dwfl_module_addrinfo(m, address, &offset, &symbol, NULL, NULL, NULL);
    if (name)
        snprintf(text, size, "%s+%#" PRIx64 " (%s)", name, (uint64_t)offset, file);
    else
        snprintf(text, size, "%s+%#" PRIx64, file, address - start);
    append_source(m, address, text, size);
}

/* ---- functions of Filch ---- */

static bool has_prefix(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Inline functions of the public headers are local symbols of the program.  The linker puts
 * unlikely parts of all functions in one place. */
static bool is_library_symbol(const char *name, const GElf_Sym *symbol)
{
    if (GELF_ST_TYPE(symbol->st_info) != STT_FUNC || strstr(name, ".cold"))
        return false;
    return has_prefix(name, "fi_") ||
           (has_prefix(name, "filch_") && GELF_ST_BIND(symbol->st_info) == STB_GLOBAL);
}

/* Where the functions of a program begin that are not in a section for cold functions; 0: unknown. */
static uint64_t text_begin(Dwfl_Module *m)
{
    int n = dwfl_module_getsymtab(m);
    for (int i = 0; i < n; i++) {
        GElf_Sym symbol;
        GElf_Addr at;
        const char *name = dwfl_module_getsym_info(m, i, &symbol, &at, NULL, NULL, NULL);
        if (name && symbol.st_shndx != SHN_UNDEF && strcmp(name, "_start") == 0)
            return at;
    }
    return 0;
}

/* The linker puts the members of an archive next to each other, except for their cold functions. */
static static_range find_range(Dwfl_Module *m)
{
    static_range r = {.module = m};
    uint64_t begin = text_begin(m);
    int n = dwfl_module_getsymtab(m);
    for (int i = 0; i < n; i++) {
        GElf_Sym symbol;
        GElf_Addr at;
        const char *name = dwfl_module_getsym_info(m, i, &symbol, &at, NULL, NULL, NULL);
        if (!name || symbol.st_shndx == SHN_UNDEF || at < begin ||
            !is_library_symbol(name, &symbol))
            continue;
        if (r.end == 0 || at < r.begin)
            r.begin = at;
        if (at + symbol.st_size > r.end)
            r.end = at + symbol.st_size;
    }
    return r;
}

static static_range range_of(symbols *s, Dwfl_Module *m)
{
    for (int i = 0; i < s->n_ranges; i++)
        if (s->ranges[i].module == m)
            return s->ranges[i];
    static_range r = find_range(m);
    if (s->n_ranges < RANGES_MAX)
        s->ranges[s->n_ranges++] = r;
    return r;
}

static bool range_has(const static_range *r, uint64_t address)
{
    return address >= r->begin && address < r->end;
}

/* Functions with internal linkage have any name.  In a static program they are those of the range,
 * unless link-time optimisation has mixed functions of the program into it. */
bool symbol_is_internal(symbols *s, uint64_t address, uint64_t body)
{
    Dwfl_Module *m = dwfl_addrmodule(s->dwfl, address);
    Dwarf_Addr start;
    const char *name = m ? dwfl_module_addrname(m, address) : NULL;
    if (!m || (name && has_prefix(name, "filch_")))
        return false;
    if (has_prefix(module_file(m, &start), "libfilch.so") || (name && has_prefix(name, "fi_")))
        return true;
    static_range r = range_of(s, m);
    return range_has(&r, address) && !range_has(&r, body);
}

bool symbol_is_same(symbols *s, uint64_t a, uint64_t b)
{
    Dwfl_Module *m = dwfl_addrmodule(s->dwfl, a);
    GElf_Off from_a = 0, from_b = 0;
    GElf_Sym symbol;
    return m && m == dwfl_addrmodule(s->dwfl, b) &&
           dwfl_module_addrinfo(m, a, &from_a, &symbol, NULL, NULL, NULL) &&
           dwfl_module_addrinfo(m, b, &from_b, &symbol, NULL, NULL, NULL) &&
           a - from_a == b - from_b;
}

#else

symbols *symbols_open(pid_t pid, const char **why)
{
    (void)pid;
    *why = "filch was built without libdw (Debian: libdw-dev)";
    return NULL;
}

void symbols_close(symbols *s)
{
    (void)s;
}

unsigned backtrace_read(symbols *s, const stack_copy *stack, uint64_t at[FRAMES_MAX])
{
    (void)s, (void)stack, (void)at;
    return 0;
}

void symbol_name(symbols *s, uint64_t address, char *text, size_t size)
{
    (void)s;
    snprintf(text, size, "%#" PRIx64, address);
}

bool symbol_is_internal(symbols *s, uint64_t address, uint64_t body)
{
    (void)s, (void)address, (void)body;
    return false;
}

bool symbol_is_same(symbols *s, uint64_t a, uint64_t b)
{
    (void)s, (void)a, (void)b;
    return false;
}

#endif
