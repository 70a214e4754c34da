/* filch info: what a bug report needs to know of Filch, the machine and its limits. */
#define _GNU_SOURCE
#include "args.h"
#include "command.h"
#include "lab/cpu_quota.h"
#include "lab/machine.h"
#include "safe_text.h"

#include <errno.h>
#include <filch/filch.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

enum { TEXT = 512, NAME_WIDTH = 30 };

static void info_help(void)
{
    printf("usage: filch info [--json]\n\n"
           "Prints the version and build of Filch, the CPUs and the features of the kernel that\n"
           "Filch uses, limits, and the variables that are set.  Add it to a bug report.\n\n"
           "      --json            print a JSON object\n"
           "  -h, --help            print this text\n"
           "  -V, --version         print the version\n");
}

/* ---- rows ---- */

typedef struct info_output {
    bool json;
    int rows;
} info_output;

__attribute__((format(printf, 3, 4))) static void row(info_output *o, const char *name,
                                                      const char *format, ...)
{
    char text[TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (o->json) {
        printf(o->rows++ == 0 ? "{\n  " : ",\n  ");
        json_write(stdout, name);
        printf(": ");
        json_write(stdout, text);
        return;
    }
    printf("%-*s ", NAME_WIDTH, name);
    print_safe_text(stdout, text, TEXT);
    printf("\n");
}

static void section(const info_output *o, const char *title)
{
    if (!o->json)
        printf("\n%s\n", title);
}

/* The first of these files that can be read. */
static void row_of_file(info_output *o, const char *name, const char *const *paths, int n)
{
    char text[TEXT] = "";
    for (int i = 0; i < n && text[0] == '\0'; i++)
        machine_first_line(paths[i], text, sizeof text);
    row(o, name, "%s", text[0] != '\0' ? text : "not available");
}

static void row_of_sysctl(info_output *o, const char *name, const char *path)
{
    row_of_file(o, name, &path, 1);
}

/* ---- CPUs ---- */

static void print_cpus(info_output *o)
{
    char text[TEXT];
    cpu_set_t set;
    machine_cpu(text, sizeof text);
    section(o, "CPUs");
    row(o, "CPU", "%s", text);
    row(o, "CPUs online", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        row(o, "CPUs by affinity", "%d", CPU_COUNT(&set));
    cpu_quota_describe("", text, sizeof text);
    row(o, "CPU quota of the cgroup", "%s", text);
    row(o, "workers by default", "%u", filch_cpu_count());
}

/* ---- features of the kernel ---- */

/* A call with arguments that are invalid shows whether the kernel knows it. */
static const char *answer(long result)
{
    static char text[TEXT];
    if (result >= 0 || errno == EINVAL || errno == EBADF || errno == EFAULT)
        return "yes";
    snprintf(text, sizeof text, "no (%s)", strerror(errno));
    return text;
}

static const char *membarrier_answer(void)
{
    enum { QUERY = 0, PRIVATE_EXPEDITED = 1 << 3 };
    long commands = syscall(SYS_membarrier, QUERY, 0, 0);
    if (commands >= 0 && !(commands & PRIVATE_EXPEDITED))
        errno = ENOSYS, commands = -1;
    return answer(commands);
}

/* Unlike the other calls, madvise(2) answers EINVAL for advice that it does not know. */
static const char *guard_answer(void)
{
    enum { GUARD_INSTALL = 102 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool works = at != MAP_FAILED && madvise(at, page, GUARD_INSTALL) == 0;
    if (at != MAP_FAILED)
        munmap(at, page);
    return works ? "yes" : "no (mprotect guards are used)";
}

static const char *pidfd_answer(void)
{
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    const char *text = answer(fd);
    if (fd >= 0)
        close(fd);
    return text;
}

static const char *read_memory_answer(void)
{
    struct iovec none = {NULL, 0};
    return answer(process_vm_readv(getpid(), &none, 1, &none, 1, 0));
}

static void print_kernel(info_output *o)
{
    struct utsname u;
    section(o, "kernel");
    if (uname(&u) == 0)
        row(o, "kernel", "%s %s %s", u.sysname, u.release, u.machine);
    row(o, "membarrier", "%s", membarrier_answer());
    row(o, "guard pages by madvise", "%s", guard_answer());
    row(o, "epoll_pwait2", "%s", answer(syscall(SYS_epoll_pwait2, -1, NULL, 0, NULL, NULL, 0)));
    row(o, "pidfd_open", "%s", pidfd_answer());
    row(o, "io_uring", "%s", answer(syscall(SYS_io_uring_setup, 0, NULL)));
    row(o, "process_vm_readv", "%s", read_memory_answer());
    row_of_sysctl(o, "transparent huge pages", "/sys/kernel/mm/transparent_hugepage/enabled");
}

/* ---- limits ---- */

static void row_of_limit(info_output *o, const char *name, const struct rlimit *l)
{
    if (l->rlim_cur == RLIM_INFINITY)
        row(o, name, "unlimited");
    else
        row(o, name, "%llu", (unsigned long long)l->rlim_cur);
}

#define ROW_OF_LIMIT(o, what, which)                                                               \
    do {                                                                                           \
        struct rlimit limit_;                                                                      \
        if (getrlimit(which, &limit_) == 0)                                                        \
            row_of_limit(o, what " (" #which ")", &limit_);                                        \
    } while (0)

/* The own cgroup, by version 2 and 1, and its root, which is the own one in a container. */
static void row_of_cgroup(info_output *o, const char *name, const char *file, const char *v1_file)
{
    char line[TEXT], paths[4][2 * TEXT] = {"", "/sys/fs/cgroup/", "", "/sys/fs/cgroup/"};
    char controller[TEXT];
    snprintf(controller, sizeof controller, "%.*s", (int)strcspn(v1_file, "."), v1_file);
    FILE *in = fopen("/proc/self/cgroup", "re");
    while (in && fgets(line, sizeof line, in)) {
        const char *kind = strchr(line, ':'), *path = kind ? strchr(kind + 1, ':') : NULL;
        line[strcspn(line, "\n")] = '\0';
        if (path && path == kind + 1)
            snprintf(paths[0], sizeof paths[0], "/sys/fs/cgroup%s/%s", path + 1, file);
        else if (path && strncmp(kind + 1, controller, strlen(controller)) == 0)
            snprintf(paths[2], sizeof paths[2], "/sys/fs/cgroup/%s%s/%s", controller, path + 1,
                     v1_file);
    }
    if (in)
        fclose(in);
    snprintf(paths[1], sizeof paths[1], "/sys/fs/cgroup/%s", file);
    snprintf(paths[3], sizeof paths[3], "/sys/fs/cgroup/%s/%s", controller, v1_file);
    row_of_file(o, name, (const char *const[]){paths[0], paths[1], paths[2], paths[3]}, 4);
}

static void print_limits(info_output *o)
{
    section(o, "limits");
    row_of_sysctl(o, "vm.max_map_count", "/proc/sys/vm/max_map_count");
    row_of_sysctl(o, "vm.overcommit_memory", "/proc/sys/vm/overcommit_memory");
    row_of_sysctl(o, "kernel.threads-max", "/proc/sys/kernel/threads-max");
    row_of_sysctl(o, "kernel.yama.ptrace_scope", "/proc/sys/kernel/yama/ptrace_scope");
    ROW_OF_LIMIT(o, "processes", RLIMIT_NPROC);
    ROW_OF_LIMIT(o, "descriptors", RLIMIT_NOFILE);
    ROW_OF_LIMIT(o, "address space", RLIMIT_AS);
    ROW_OF_LIMIT(o, "stack", RLIMIT_STACK);
    row_of_cgroup(o, "processes of the cgroup", "pids.max", "pids.max");
    row_of_cgroup(o, "memory of the cgroup", "memory.max", "memory.limit_in_bytes");
}

/* ---- the command ---- */

static void print_build(info_output *o)
{
    row(o, "filch", "%s", filch_version());
    row(o, "build", "%s", FILCH_BUILD);
    row(o, "compiler", "%s", machine_compiler);
#ifdef __GLIBC__
    row(o, "libc", "glibc %s", gnu_get_libc_version());
#endif
}

static void print_variables(info_output *o)
{
    int found = 0;
    section(o, "variables");
    for (char **v = environ; *v; v++) {
        char name[64];
        if (strncmp(*v, "FILCH_", 6) != 0 || !strchr(*v, '='))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*v, "="), *v);
        row(o, name, "%s", strchr(*v, '=') + 1);
        found++;
    }
    if (found == 0 && !o->json)
        printf("no FILCH_* variable is set\n");
}

int command_info(int argc, char **argv)
{
    static const struct option known[] = {{"json", no_argument, NULL, 'j'}, COMMON_OPTIONS};
    info_output o = {.json = false};
    while (next_option(argc, argv, ":hV", known, info_help) == 'j')
        o.json = true;
    if (optind < argc)
        usage_error("info takes no arguments (got '%s')", argv[optind]);
    print_build(&o);
    print_cpus(&o);
    print_kernel(&o);
    print_limits(&o);
    print_variables(&o);
    if (o.json)
        printf("\n}\n");
    return EXIT_OK;
}
