/* Reads the CPU quota from the files of cgroup v1 and v2.
 *
 * /proc/self/cgroup has a line "id:controllers:path" per hierarchy.  The line of v2 has id 0 and no
 * controllers.  /proc/self/mountinfo lists where each hierarchy is mounted, and which directory of
 * the hierarchy (the mount's root) is visible there.  In a container that is often the container's
 * own cgroup.  So the directory of this process is
 *
 *     mount point + (path without the mount's root)
 *
 * The search goes from there up to the mount point.  Directories above it are not visible.  A path
 * that is not below the mount's root belongs to another namespace; then only the mount point is
 * read.  Both versions are read, because in a hybrid set-up either may have the CPU controller.
 *
 * A quota is rounded up, so that no part of it stays unused.  A quota of 1.5 gives 2 workers, which
 * are throttled a quarter of the time when both are busy.  One worker could not use the half CPU.
 */
#define _GNU_SOURCE
#include "base/cgroup.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MIN_SIZE 4096
#define MAX_SIZE ((size_t)16 * 1024 * 1024)

/* The content of a file.  The buffer is reused for the next file.  A zeroed one is empty. */
typedef struct text {
    char *s; /* ends with a NUL after text_read returned 0 */
    size_t size;
} text;

static void text_fini(text *t)
{
    fi_mem_free(t->s, t->size, 1);
    *t = (text){0};
}

/* [owner] Double the buffer and keep its content. */
static int text_grow(text *t)
{
    size_t size = t->size == 0 ? MIN_SIZE : 2 * t->size;

    if (size > MAX_SIZE)
        return -EFBIG;
    char *s = fi_mem_alloc(size, 1);
    if (s == NULL)
        return -ENOMEM;
    if (t->s != NULL)
        memcpy(s, t->s, t->size);
    text_fini(t);
    *t = (text){.s = s, .size = size};
    return 0;
}

static int text_read_fd(text *t, int fd)
{
    size_t used = 0;

    for (;;) {
        int e = used + 1 < t->size ? 0 : text_grow(t);
        if (e < 0)
            return e;
        ssize_t n = read(fd, t->s + used, t->size - used - 1);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0)
            break;
        used += n > 0 ? (size_t)n : 0;
    }
    t->s[used] = '\0';
    return 0;
}

/* [owner] Read the file with the formatted path.  0 or -errno. */
__attribute__((format(printf, 2, 3))) static int text_read(text *t, const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;

    va_start(args, format);
    /* clang-tidy 14 overlooks va_start here. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    int length = vsnprintf(path, sizeof path, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof path)
        return -ENAMETOOLONG;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int e = text_read_fd(t, fd);
    close(fd);
    return e;
}

/* [any] Parse a decimal number at *s and advance *s past it.  False if there is none or it
 * overflows. */
static bool parse_number(const char **s, uint64_t *value)
{
    const char *p = *s;
    uint64_t sum = 0;

    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(*p - '0'), &sum))
            return false;
    if (p == *s)
        return false;
    *s = p;
    *value = sum;
    return true;
}

/* [any] The next field of *s, which a character of delimiters ends; NULL at the end of the text. */
static char *next_field(char **s, const char *delimiters)
{
    char *field = *s;

    if (*field == '\0')
        return NULL;
    *s += strcspn(*s, delimiters);
    if (**s != '\0')
        *(*s)++ = '\0';
    return field;
}

/* [any] Does the comma-separated list contain the name? */
static bool list_has(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (;;) {
        size_t n = strcspn(list, ",");
        if (n == length && memcmp(list, name, n) == 0)
            return true;
        if (list[n] == '\0')
            return false;
        list += n + 1;
    }
}

/* The version of a hierarchy decides the names of its files. */
typedef enum version { V1, V2, VERSIONS } version;

/* State of the search. */
typedef struct search {
    const char *root;             /* prefix of every path */
    const char *path[VERSIONS];   /* of our cgroup, "/" when not known */
    bool matched[VERSIONS];       /* a mount shows our cgroup */
    unsigned smallest[VERSIONS];  /* quota of the mounts that show our cgroup; 0: none */
    unsigned unmatched[VERSIONS]; /* quota of the other mounts */
    text file;
} search;

typedef struct mount {
    version version;
    const char *root;
    const char *point;
} mount;

/* [any] quota / period, rounded up.  Neither is 0, so the result is at least 1. */
static unsigned whole_cpus(uint64_t quota, uint64_t period)
{
    uint64_t cpus = quota / period + (quota % period != 0);

    return cpus > UINT_MAX ? UINT_MAX : (unsigned)cpus;
}

static unsigned smaller_quota(unsigned a, unsigned b)
{
    if (a == 0 || b == 0)
        return a + b;
    return a < b ? a : b;
}

/* [any] "50000 100000" -> 1; "max 100000" and all other text -> 0. */
static unsigned parse_v2_quota(const char *s)
{
    uint64_t quota, period;

    if (!parse_number(&s, &quota) || *s++ != ' ' || !parse_number(&s, &period))
        return 0;
    if (quota == 0 || period == 0)
        return 0;
    return *s == '\0' || *s == '\n' ? whole_cpus(quota, period) : 0;
}

/* [any] A number alone on its line; 0 for any other text, such as "-1", which means no quota. */
static uint64_t parse_v1_number(const char *s)
{
    uint64_t n;

    if (!parse_number(&s, &n))
        return 0;
    return *s == '\0' || *s == '\n' ? n : 0;
}

/* [owner] The quota of the directory point + the first length characters of below. */
static int read_v2(search *s, const char *point, const char *below, int length, unsigned *cpus)
{
    int e = text_read(&s->file, "%s%s%.*s/cpu.max", s->root, point, length, below);

    if (e == 0)
        *cpus = parse_v2_quota(s->file.s);
    return e;
}

static int read_v1(search *s, const char *point, const char *below, int length, unsigned *cpus)
{
    int e = text_read(&s->file, "%s%s%.*s/cpu.cfs_quota_us", s->root, point, length, below);
    uint64_t quota = e == 0 ? parse_v1_number(s->file.s) : 0;

    if (quota == 0)
        return e;
    e = text_read(&s->file, "%s%s%.*s/cpu.cfs_period_us", s->root, point, length, below);
    uint64_t period = e == 0 ? parse_v1_number(s->file.s) : 0;
    if (period != 0)
        *cpus = whole_cpus(quota, period);
    return e;
}

/* [any] The length of the path of the parent directory; -1 above the mount point. */
static int parent_length(const char *below, int length)
{
    if (length == 0)
        return -1;
    while (length > 0 && below[--length] != '/')
        ;
    return length;
}

/* [owner] The smallest quota from point/below up to point.  0 or -ENOMEM. */
static int read_ancestors(search *s, version v, const char *point, const char *below,
                          unsigned *smallest)
{
    for (int length = (int)strlen(below); length >= 0; length = parent_length(below, length)) {
        unsigned cpus = 0;
        int e = v == V2 ? read_v2(s, point, below, length, &cpus)
                        : read_v1(s, point, below, length, &cpus);
        if (e == -ENOMEM)
            return e;
        *smallest = smaller_quota(*smallest, cpus);
    }
    return 0;
}

/* [any] Does the path contain "..", and so lie outside of our namespace? */
static bool leaves_namespace(const char *path)
{
    for (; (path = strstr(path, "/..")) != NULL; path += 3)
        if (path[3] == '/' || path[3] == '\0')
            return true;
    return false;
}

/* [any] The part of path below root, "" for root itself, or NULL if path is not below root. */
static const char *below_root(const char *path, const char *root)
{
    size_t length = strlen(root);

    if (leaves_namespace(path))
        return NULL;
    while (length > 0 && root[length - 1] == '/')
        length--;
    if (strncmp(path, root, length) != 0)
        return NULL;
    path += length;
    if (strcmp(path, "/") == 0)
        return "";
    return *path == '\0' || *path == '/' ? path : NULL;
}

static int read_mount(search *s, const mount *m)
{
    const char *below = below_root(s->path[m->version], m->root);

    if (below == NULL)
        return read_ancestors(s, m->version, m->point, "", &s->unmatched[m->version]);
    s->matched[m->version] = true;
    return read_ancestors(s, m->version, m->point, below, &s->smallest[m->version]);
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* [any] mountinfo writes spaces and some other characters as \ooo. */
static void unescape(char *s)
{
    char *to = s;

    while (*s != '\0') {
        if (s[0] == '\\' && is_octal(s[1]) && is_octal(s[2]) && is_octal(s[3])) {
            *to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
            s += 4;
        } else {
            *to++ = *s++;
        }
    }
    *to = '\0';
}

/* [any] A line of mountinfo:
 *     id parent major:minor root point options [tags...] - type source super-options
 * True when it mounts a hierarchy with the CPU controller, or v2. */
static bool parse_mount(char *line, mount *m)
{
    char *field[6];

    for (int i = 0; i < 6; i++)
        if ((field[i] = next_field(&line, " ")) == NULL)
            return false;
    for (const char *tag = ""; strcmp(tag, "-") != 0;)
        if ((tag = next_field(&line, " ")) == NULL)
            return false;
    const char *type = next_field(&line, " ");
    const char *source = next_field(&line, " ");
    if (type == NULL || source == NULL)
        return false;
    unescape(field[3]);
    unescape(field[4]);
    *m = (mount){
        .version = strcmp(type, "cgroup2") == 0 ? V2 : V1, .root = field[3], .point = field[4]};
    return m->version == V2 || (strcmp(type, "cgroup") == 0 && list_has(line, "cpu"));
}

static int read_mounts(search *s, char *mountinfo)
{
    for (char *line; (line = next_field(&mountinfo, "\n")) != NULL;) {
        mount m;
        int e = parse_mount(line, &m) ? read_mount(s, &m) : 0;
        if (e < 0)
            return e;
    }
    return 0;
}

/* [owner] If mountinfo cannot be read, try the usual mount points. */
static int read_default_mounts(search *s)
{
    const mount v2 = {.version = V2, .root = "/", .point = "/sys/fs/cgroup"};
    const mount v1 = {.version = V1, .root = "/", .point = "/sys/fs/cgroup/cpu"};
    int e = read_mount(s, &v2);

    return e < 0 ? e : read_mount(s, &v1);
}

/* [owner] The path of our cgroup in both versions, from /proc/self/cgroup. */
static void parse_cgroup_paths(search *s, char *lines)
{
    for (char *line; (line = next_field(&lines, "\n")) != NULL;) {
        const char *id = next_field(&line, ":");
        const char *controllers = next_field(&line, ":");
        if (id == NULL || controllers == NULL || *line != '/')
            continue;
        if (list_has(controllers, "cpu"))
            s->path[V1] = line;
        else if (strcmp(id, "0") == 0 && *controllers == '\0')
            s->path[V2] = line;
    }
}

/* [owner] -ENOMEM ends the search; any other error means that there is no such file. */
static int read_all(search *s, text *cgroup, text *mountinfo)
{
    int e = text_read(cgroup, "%s/proc/self/cgroup", s->root);

    if (e == 0)
        parse_cgroup_paths(s, cgroup->s);
    if (e == -ENOMEM)
        return e;
    e = text_read(mountinfo, "%s/proc/self/mountinfo", s->root);
    if (e == -ENOMEM)
        return e;
    return e == 0 ? read_mounts(s, mountinfo->s) : read_default_mounts(s);
}

int fi_cgroup_cpu_quota(const char *root, unsigned *cpus)
{
    search s = {.root = root, .path = {"/", "/"}};
    text cgroup = {0}, mountinfo = {0};
    int e = read_all(&s, &cgroup, &mountinfo);

    *cpus = 0;
    for (int v = V1; e == 0 && v < VERSIONS; v++)
        *cpus = smaller_quota(*cpus, s.matched[v] ? s.smallest[v] : s.unmatched[v]);
    text_fini(&cgroup);
    text_fini(&mountinfo);
    text_fini(&s.file);
    return e;
}
