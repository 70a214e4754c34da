/* The CPU quota of this process: the tightest of its cgroup and all those above it.
 *
 * /proc/self/cgroup has a line "id:controllers:path" per hierarchy; id 0 with no controllers is v2.
 * /proc/self/mountinfo says where each hierarchy is mounted, and which of its directories (the
 * mount's root) is to be seen there: inside a container that is often the container's own cgroup.
 * So the directory is
 *
 *     mount point + (path without the mount's root)
 *
 * and from there we go up to the mount point; what lies above is out of sight.  A path that is not
 * below the mount's root belongs to another namespace: then the mount point is the best we know.
 * Both versions are looked at, since in hybrid set-ups either may hold the controller.
 *
 * Rounded up, because rounding down would leave paid time unused on every period: a quota of 1.5
 * gives 2 workers, which are throttled a quarter of the time when both are busy; one worker could
 * never use the half CPU.  Less than one CPU is one worker.
 */
#include "base/topology_parts.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* The version of a hierarchy decides what the files are called. */
typedef enum version { V1, V2, VERSIONS } version;

/* What is known while mountinfo is read. */
typedef struct search {
    const char *root;             /* of the file tree */
    const char *path[VERSIONS];   /* our cgroup, "/" when not known */
    bool matched[VERSIONS];       /* a mount that shows our cgroup was seen */
    unsigned tightest[VERSIONS];  /* over mounts that show our cgroup; 0: none */
    unsigned elsewhere[VERSIONS]; /* over those that do not */
    fi_text file;
} search;

typedef struct mount {
    version version;
    const char *root;
    const char *point;
} mount;

/* [any] quota / period as whole CPUs; neither is 0, so it is at least 1. */
static unsigned whole_cpus(uint64_t quota, uint64_t period)
{
    uint64_t cpus = quota / period + (quota % period != 0);

    return cpus > UINT_MAX ? UINT_MAX : (unsigned)cpus;
}

static unsigned tighter(unsigned a, unsigned b)
{
    if (a == 0 || b == 0)
        return a + b;
    return a < b ? a : b;
}

/* [any] "50000 100000" -> 1; "max 100000" and all else -> 0. */
static unsigned parse_v2(const char *s)
{
    uint64_t quota, period;

    if (!fi_text_number(&s, &quota) || *s++ != ' ' || !fi_text_number(&s, &period))
        return 0;
    if (quota == 0 || period == 0)
        return 0;
    return *s == '\0' || *s == '\n' ? whole_cpus(quota, period) : 0;
}

/* [any] A number alone on its line; 0 for anything else, which "-1", no quota, is. */
static uint64_t parse_v1(const char *s)
{
    uint64_t n;

    if (!fi_text_number(&s, &n))
        return 0;
    return *s == '\0' || *s == '\n' ? n : 0;
}

/* [owner] The quota of one directory, which is the first length characters of below under point. */
static int read_v2(search *s, const char *point, const char *below, int length, unsigned *cpus)
{
    int e = fi_text_read(&s->file, "%s%s%.*s/cpu.max", s->root, point, length, below);

    if (e == 0)
        *cpus = parse_v2(s->file.s);
    return e;
}

static int read_v1(search *s, const char *point, const char *below, int length, unsigned *cpus)
{
    int e = fi_text_read(&s->file, "%s%s%.*s/cpu.cfs_quota_us", s->root, point, length, below);
    uint64_t quota = e == 0 ? parse_v1(s->file.s) : 0;

    if (quota == 0)
        return e;
    e = fi_text_read(&s->file, "%s%s%.*s/cpu.cfs_period_us", s->root, point, length, below);
    uint64_t period = e == 0 ? parse_v1(s->file.s) : 0;
    if (period != 0)
        *cpus = whole_cpus(quota, period);
    return e;
}

/* [any] How long the directory above this one is; -1 above the mount point. */
static int parent(const char *below, int length)
{
    if (length == 0)
        return -1;
    while (length > 0 && below[--length] != '/')
        ;
    return length;
}

/* [owner] The tightest quota from point/below up to point.  0 or -ENOMEM: what cannot be read sets
 * no limit. */
static int climb(search *s, version v, const char *point, const char *below, unsigned *tightest)
{
    for (int length = (int)strlen(below); length >= 0; length = parent(below, length)) {
        unsigned cpus = 0;
        int e = v == V2 ? read_v2(s, point, below, length, &cpus)
                        : read_v1(s, point, below, length, &cpus);
        if (e == -ENOMEM)
            return e;
        *tightest = tighter(*tightest, cpus);
    }
    return 0;
}

/* [any] Does the path lead above what our namespace shows? */
static bool leads_out(const char *path)
{
    for (; (path = strstr(path, "/..")) != NULL; path += 3)
        if (path[3] == '/' || path[3] == '\0')
            return true;
    return false;
}

/* [any] The part of path below root, "" for root itself, or NULL when it is not there. */
static const char *below_root(const char *path, const char *root)
{
    size_t length = strlen(root);

    if (leads_out(path))
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

/* [owner] */
static int look_at_mount(search *s, const mount *m)
{
    const char *below = below_root(s->path[m->version], m->root);

    if (below == NULL)
        return climb(s, m->version, m->point, "", &s->elsewhere[m->version]);
    s->matched[m->version] = true;
    return climb(s, m->version, m->point, below, &s->tightest[m->version]);
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* [any] Spaces and their like are written as \ooo in mountinfo. */
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
        if ((field[i] = fi_text_cut(&line, " ")) == NULL)
            return false;
    for (const char *tag = ""; strcmp(tag, "-") != 0;)
        if ((tag = fi_text_cut(&line, " ")) == NULL)
            return false;
    const char *type = fi_text_cut(&line, " ");
    const char *source = fi_text_cut(&line, " ");
    if (type == NULL || source == NULL)
        return false;
    unescape(field[3]);
    unescape(field[4]);
    *m = (mount){
        .version = strcmp(type, "cgroup2") == 0 ? V2 : V1, .root = field[3], .point = field[4]};
    return m->version == V2 || (strcmp(type, "cgroup") == 0 && fi_text_lists(line, "cpu"));
}

static int look_at_all(search *s, char *mountinfo)
{
    for (char *line; (line = fi_text_cut(&mountinfo, "\n")) != NULL;) {
        mount m;
        int e = parse_mount(line, &m) ? look_at_mount(s, &m) : 0;
        if (e < 0)
            return e;
    }
    return 0;
}

/* [owner] With mountinfo closed, the places where everyone mounts them. */
static int look_at_usual_places(search *s)
{
    const mount v2 = {.version = V2, .root = "/", .point = "/sys/fs/cgroup"};
    const mount v1 = {.version = V1, .root = "/", .point = "/sys/fs/cgroup/cpu"};
    int e = look_at_mount(s, &v2);

    return e < 0 ? e : look_at_mount(s, &v1);
}

/* [owner] Our cgroup in both versions, from /proc/self/cgroup. */
static void find_paths(search *s, char *text)
{
    for (char *line; (line = fi_text_cut(&text, "\n")) != NULL;) {
        const char *id = fi_text_cut(&line, ":");
        const char *controllers = fi_text_cut(&line, ":");
        if (id == NULL || controllers == NULL || *line != '/')
            continue;
        if (fi_text_lists(controllers, "cpu"))
            s->path[V1] = line;
        else if (strcmp(id, "0") == 0 && *controllers == '\0')
            s->path[V2] = line;
    }
}

/* [owner] -ENOMEM ends the search; another error means that there is no such file. */
static int look(search *s, fi_text *cgroup, fi_text *mountinfo)
{
    int e = fi_text_read(cgroup, "%s/proc/self/cgroup", s->root);

    if (e == 0)
        find_paths(s, cgroup->s);
    if (e == -ENOMEM)
        return e;
    e = fi_text_read(mountinfo, "%s/proc/self/mountinfo", s->root);
    if (e == -ENOMEM)
        return e;
    return e == 0 ? look_at_all(s, mountinfo->s) : look_at_usual_places(s);
}

int fi_topology_quota(const char *root, unsigned *cpus)
{
    search s = {.root = root, .path = {"/", "/"}};
    fi_text cgroup = {0}, mountinfo = {0};
    int e = look(&s, &cgroup, &mountinfo);

    *cpus = 0;
    for (int v = V1; e == 0 && v < VERSIONS; v++)
        *cpus = tighter(*cpus, s.matched[v] ? s.tightest[v] : s.elsewhere[v]);
    fi_text_fini(&cgroup);
    fi_text_fini(&mountinfo);
    fi_text_fini(&s.file);
    return e;
}
