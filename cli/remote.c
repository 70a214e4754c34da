/* Find the runtime of another process, and read its workers. */
#define _GNU_SOURCE
#include "remote.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    HEADERS_MAX = 64,
    NOTES_MAX = 1 << 16,
    LAYOUT_VERSION = 2,
    ENTRIES_MAX = 512,
    RECORD_MAX = 1 << 16, /* bytes of a worker, a fiber or a waiter */
    NOT_IN_TABLE = -1,
    PATH_SIZE = 64
};

/* ---- memory ---- */

static ssize_t process_read(pid_t pid, uint64_t from, void *to, size_t size)
{
    struct iovec into = {to, size}, of = {(void *)(uintptr_t)from, size};
    return process_vm_readv(pid, &into, 1, &of, 1, 0);
}

bool remote_read(const remote *r, uint64_t from, void *to, size_t size)
{
    return process_read(r->pid, from, to, size) == (ssize_t)size;
}

uint64_t remote_u64(const remote *r, uint64_t from)
{
    uint64_t value = 0;
    return remote_read(r, from, &value, sizeof value) ? value : 0;
}

/* process_vm_readv(2) stops at the first part that cannot be read. */
void remote_read_many(const remote *r, const uint64_t *from, unsigned n, void *to, size_t size,
                      bool *is_read)
{
    struct iovec parts[REMOTE_BATCH];
    for (unsigned i = 0; i < n; i++)
        parts[i] = (struct iovec){(void *)(uintptr_t)from[i], size};
    for (unsigned i = 0; i < n;) {
        struct iovec into = {(char *)to + i * size, (n - i) * size};
        ssize_t got = size > 0 ? process_vm_readv(r->pid, &into, 1, parts + i, n - i, 0) : -1;
        unsigned whole = got > 0 ? (unsigned)((size_t)got / size) : 0;
        for (unsigned k = 0; k < whole; k++)
            is_read[i + k] = true;
        i += whole;
        if (i < n)
            is_read[i++] = false;
    }
}

static uint32_t remote_u32(const remote *r, uint64_t from)
{
    uint32_t value = 0;
    return remote_read(r, from, &value, sizeof value) ? value : 0;
}

/* The string may end right before memory that is not mapped: then the read is short. */
void remote_string(const remote *r, uint64_t from, char *text, size_t size)
{
    const uint64_t page = 4096;
    size_t n = 0;
    while (from != 0 && n + 1 < size) {
        size_t part = page - (from + n) % page;
        part = part < size - 1 - n ? part : size - 1 - n;
        if (!remote_read(r, from + n, text + n, part))
            break;
        n += part;
        if (memchr(text, '\0', n))
            return;
    }
    snprintf(text + n, size - n, "%s", n == 0 ? "?" : "");
}

/* ---- the note of the library ---- */

/* The address of the table, if it is in these notes; 0: it is not.  at: where they are. */
static uint64_t table_in_notes(const char *notes, size_t size, uint64_t at)
{
    static const char name[] = "Filch";
    for (size_t i = 0; i + sizeof(Elf64_Nhdr) <= size;) {
        Elf64_Nhdr h;
        memcpy(&h, notes + i, sizeof h);
        size_t owner = i + sizeof h, descriptor = owner + (((size_t)h.n_namesz + 3) & ~(size_t)3);
        int64_t distance;
        if (h.n_namesz > size || h.n_descsz > size || descriptor + h.n_descsz > size)
            return 0;
        if (h.n_namesz == sizeof name && memcmp(notes + owner, name, sizeof name) == 0 &&
            h.n_type == 1 && h.n_descsz == sizeof distance) {
            memcpy(&distance, notes + descriptor, sizeof distance);
            return at + descriptor + (uint64_t)distance;
        }
        i = descriptor + (((size_t)h.n_descsz + 3) & ~(size_t)3);
    }
    return 0;
}

/* The same, in an ELF file that is mapped at start. */
static uint64_t table_in_file(pid_t pid, uint64_t start)
{
    static char notes[NOTES_MAX];
    Elf64_Ehdr e = {0};
    Elf64_Phdr p[HEADERS_MAX];
    if (process_read(pid, start, &e, sizeof e) != sizeof e ||
        memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64 ||
        e.e_phentsize != sizeof *p || e.e_phnum > HEADERS_MAX)
        return 0;
    size_t size = e.e_phnum * sizeof *p;
    if (process_read(pid, start + e.e_phoff, p, size) != (ssize_t)size)
        return 0;
    uint64_t bias = 0;
    for (int i = e.e_phnum - 1; i >= 0; i--)
        if (p[i].p_type == PT_LOAD && p[i].p_offset == 0)
            bias = start - p[i].p_vaddr;
    for (int i = 0; i < e.e_phnum; i++) {
        uint64_t at = bias + p[i].p_vaddr, table;
        if (p[i].p_type == PT_NOTE && p[i].p_filesz <= sizeof notes &&
            process_read(pid, at, notes, p[i].p_filesz) == (ssize_t)p[i].p_filesz &&
            (table = table_in_notes(notes, p[i].p_filesz, at)) != 0)
            return table;
    }
    return 0;
}

/* Call visit for the table of each copy of the library, until it returns true.  Returns how many
 * there are, or -errno. */
static int foreach_table(pid_t pid, bool (*visit)(uint64_t table, void *ctx), void *ctx)
{
    char path[PATH_SIZE], *line = NULL;
    size_t capacity = 0;
    int found = 0, mappings = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    if (!maps)
        return -errno;
    while (getline(&line, &capacity, maps) > 0) {
        uint64_t start, offset, inode, table;
        char access;
        mappings++;
        if (sscanf(line, "%" SCNx64 "-%*x %c%*s %" SCNx64 " %*s %" SCNu64, &start, &access, &offset,
                   &inode) != 4 ||
            offset != 0 || inode == 0 || access != 'r' || (table = table_in_file(pid, start)) == 0)
            continue;
        found++;
        if (visit && visit(table, ctx))
            break;
    }
    free(line);
    fclose(maps);
    return mappings == 0 ? -ENOEXEC : found;
}

/* /proc/PID/maps can be read with fewer rights than the memory. */
static int check_rights(pid_t pid)
{
    struct iovec none = {NULL, 0};
    return process_vm_readv(pid, &none, 1, &none, 1, 0) < 0 ? -errno : 0;
}

/* ---- reasons ---- */

static int ptrace_scope(void)
{
    FILE *in = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    int value = 0;
    if (in && fscanf(in, "%d", &value) != 1)
        value = 0;
    if (in)
        fclose(in);
    return value;
}

static const char *why_not_permitted(pid_t pid)
{
    static char text[256];
    char path[PATH_SIZE];
    struct stat s;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (geteuid() == 0)
        return "reading its memory is not permitted; filch needs CAP_SYS_PTRACE";
    if (stat(path, &s) == 0 && s.st_uid != geteuid())
        snprintf(text, sizeof text,
                 "reading its memory is not permitted: it belongs to user %u; run filch as that "
                 "user or as root",
                 (unsigned)s.st_uid);
    else if (ptrace_scope() > 0)
        snprintf(text, sizeof text,
                 "reading its memory is not permitted: kernel.yama.ptrace_scope is %d; run filch "
                 "as root, or set it to 0: sysctl kernel.yama.ptrace_scope=0",
                 ptrace_scope());
    else
        snprintf(text, sizeof text, "reading its memory is not permitted; run filch as root");
    return text;
}

static const char *why_not(pid_t pid, int e)
{
    switch (e) {
    case -ESRCH:
    case -ENOENT:
        return "no such process";
    case -ENOEXEC:
        return "it is a kernel thread, or has ended";
    case -EPERM:
    case -EACCES:
        return why_not_permitted(pid);
    default:
        return strerror(-e);
    }
}

/* ---- the table ---- */

typedef struct table_entry {
    char name[24];
    uint64_t value;
} table_entry;

typedef struct table_head {
    uint32_t version, n_entries;
    uint64_t entries;
} table_head;

static uint64_t entry_named(const table_entry *entries, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++)
        if (strncmp(entries[i].name, name, sizeof entries[i].name) == 0)
            return entries[i].value;
    return (uint64_t)NOT_IN_TABLE;
}

static const char *other_version(const char *what)
{
    static char text[128];
    snprintf(text, sizeof text, "it uses another version of Filch than this command (%s)", what);
    return text;
}

static const char *layout_read(remote *r, uint64_t table)
{
    static table_entry entries[ENTRIES_MAX];
    table_head h = {0};
    if (!remote_read(r, table, &h, sizeof h))
        return "its memory cannot be read; it may have ended";
    if (h.version != LAYOUT_VERSION || h.n_entries > ENTRIES_MAX ||
        !remote_read(r, h.entries, entries, h.n_entries * sizeof *entries))
        return other_version("its table has another format");
    const char *missing = NULL;
#define REMOTE_LOOK_UP(field)                                                                      \
    r->at.field = entry_named(entries, h.n_entries, #field);                                       \
    if (r->at.field == (uint64_t)NOT_IN_TABLE && strcmp(#field, "fiber_registers") != 0)           \
        missing = #field;
    REMOTE_LAYOUT(REMOTE_LOOK_UP) /* there are no registers in a build with ucontext */
    if (missing)
        return other_version(missing);
    if (r->at.worker_size > RECORD_MAX || r->at.fiber_size > RECORD_MAX ||
        r->at.waiter_size > RECORD_MAX || r->at.stack_size > RECORD_MAX)
        return other_version("sizes out of range");
    return NULL;
}

static const char *runtime_find(remote *r)
{
    unsigned char is_fork_child = 0;
    r->runtime = remote_u64(r, r->at.runtime);
    if (r->runtime == 0)
        return "it uses Filch, but its runtime is not running";
    remote_read(r, r->runtime + r->at.runtime_fork_child, &is_fork_child, 1);
    if (is_fork_child)
        return "it was forked from a process that uses Filch, and does not use Filch itself";
    r->workers = remote_u64(r, r->runtime + r->at.runtime_workers);
    r->n_workers = remote_u32(r, r->runtime + r->at.runtime_n_workers);
    if (r->n_workers == 0 || r->n_workers > REMOTE_WORKERS_MAX)
        return remote_is_over(r) ? "its runtime has just stopped"
                                 : other_version("number of workers");
    r->worker_bytes = calloc(r->n_workers, r->at.worker_size);
    return r->worker_bytes ? NULL : strerror(ENOMEM);
}

const char *remote_open_at(remote *r, pid_t pid, uint64_t table)
{
    *r = (remote){.pid = pid};
    const char *why = layout_read(r, table);
    return why ? why : runtime_find(r);
}

typedef struct opening {
    remote *r;
    pid_t pid;
    const char *why;
} opening;

static bool open_table(uint64_t table, void *ctx)
{
    opening *o = ctx;
    o->why = remote_open_at(o->r, o->pid, table);
    return !o->why;
}

/* The number of copies of the library in the process, or -errno.  Opens the first that runs, or
 * sets *why. */
static int open_any(remote *r, pid_t pid, const char **why)
{
    opening o = {r, pid, NULL};
    int e = check_rights(pid);
    if (e == 0)
        e = foreach_table(pid, open_table, &o);
    *why = e < 0 ? why_not(pid, e) : e == 0 ? "it does not use Filch" : o.why;
    return e;
}

const char *remote_open(remote *r, pid_t pid)
{
    const char *why;
    open_any(r, pid, &why);
    return why;
}

int remote_uses_filch(pid_t pid)
{
    remote r = {.pid = pid};
    const char *why;
    int e = open_any(&r, pid, &why);
    if (!why)
        remote_close(&r);
    return e < 0 ? e : !why;
}

void remote_close(remote *r)
{
    free(r->worker_bytes);
}

bool remote_is_over(const remote *r)
{
    return remote_u64(r, r->at.runtime) != r->runtime;
}

/* ---- workers ---- */

bool remote_read_workers(remote *r)
{
    return remote_read(r, r->workers, r->worker_bytes, r->n_workers * r->at.worker_size) &&
           !remote_is_over(r);
}

static void worker_field(const remote *r, unsigned worker, uint64_t offset, void *to, size_t size)
{
    memset(to, 0, size);
    if (offset < r->at.worker_size && r->at.worker_size - offset >= size)
        memcpy(to, r->worker_bytes + worker * r->at.worker_size + offset, size);
}

uint64_t remote_worker_u64(const remote *r, unsigned worker, uint64_t offset)
{
    uint64_t value = 0;
    worker_field(r, worker, offset, &value, sizeof value);
    return value;
}

uint32_t remote_worker_u32(const remote *r, unsigned worker, uint64_t offset)
{
    uint32_t value = 0;
    worker_field(r, worker, offset, &value, sizeof value);
    return value;
}

void remote_program(pid_t pid, char *name, size_t size)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *in = fopen(path, "re");
    snprintf(name, size, "?");
    if (in && fgets(name, (int)size, in))
        name[strcspn(name, "\n")] = '\0';
    if (in)
        fclose(in);
}
