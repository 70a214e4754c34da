/* Read the CPU quota from the files of cgroup v1 and v2.
 *
 * /proc/self/cgroup has the path of the process in each hierarchy, /proc/self/mountinfo the mount
 * points.  A mount shows the part of its hierarchy below a root, in a container often the
 * container's own cgroup.  A process is limited by its cgroup and by all ancestors. */
#define _GNU_SOURCE
#include "cpu_quota.h"

#include "machine.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct quota_search {
    const char *root;
    char path_v1[PATH_MAX], path_v2[PATH_MAX]; /* of the process; "": not known */
    long long quota_us, period_us;             /* the smallest; period_us is 0: none yet */
    bool is_read;                              /* a file was read, with or without a limit */
} quota_search;

/* Is the name in the comma-separated list?  The list ends with the line or at a colon. */
static bool list_has(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (;;) {
        size_t n = strcspn(list, ",:\n");
        if (n == length && strncmp(list, name, n) == 0)
            return true;
        if (list[n] != ',')
            return false;
        list += n + 1;
    }
}

/* "max" and -1 are no limit. */
static void take_quota(quota_search *s, long long quota, long long period)
{
    bool is_smaller = s->period_us == 0 ||
                      (double)quota / (double)period < (double)s->quota_us / (double)s->period_us;
    s->is_read = true;
    if (quota > 0 && period > 0 && is_smaller) {
        s->quota_us = quota;
        s->period_us = period;
    }
}

static bool read_file(const quota_search *s, const char *directory, const char *name, char *line,
                      size_t capacity)
{
    char path[3 * PATH_MAX];
    snprintf(path, sizeof path, "%s%s/%s", s->root, directory, name);
    machine_first_line(path, line, capacity);
    return line[0] != '\0';
}

static void read_directory(quota_search *s, const char *directory, bool is_v2)
{
    char line[64];
    long long quota = -1, period = 0;
    if (is_v2 && read_file(s, directory, "cpu.max", line, sizeof line)) {
        int n = sscanf(line, "%lld %lld", &quota, &period);
        take_quota(s, n == 2 ? quota : -1, period);
    } else if (!is_v2 && read_file(s, directory, "cpu.cfs_quota_us", line, sizeof line)) {
        sscanf(line, "%lld", &quota);
        if (read_file(s, directory, "cpu.cfs_period_us", line, sizeof line))
            sscanf(line, "%lld", &period);
        take_quota(s, quota, period);
    }
}

/* The part of path below the root of a mount; "" if the mount does not show the path. */
static const char *below_root(const char *path, const char *root)
{
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(path, root, length) != 0 || strstr(path, "/.."))
        return "";
    path += length;
    return path[0] == '/' && path[1] != '\0' ? path : "";
}

static void read_mount(quota_search *s, const char *root, const char *point, bool is_v2)
{
    char directory[2 * PATH_MAX];
    snprintf(directory, sizeof directory, "%s%s", point,
             below_root(is_v2 ? s->path_v2 : s->path_v1, root));
    for (size_t end = strlen(point); strlen(directory) >= end;) {
        read_directory(s, directory, is_v2);
        char *slash = strrchr(directory, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
}

/* "id:controllers:path" */
static void take_path(quota_search *s, char *line)
{
    const char *controllers = strchr(line, ':');
    const char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    line[strcspn(line, "\n")] = '\0';
    if (path && path == controllers + 1)
        snprintf(s->path_v2, sizeof s->path_v2, "%s", path + 1);
    else if (path && list_has(controllers + 1, "cpu"))
        snprintf(s->path_v1, sizeof s->path_v1, "%s", path + 1);
}

/* "id parent device root point options... - type source options" */
static void take_mount(quota_search *s, char *line)
{
    char root[PATH_MAX], point[PATH_MAX], type[16], options[256];
    const char *rest = strstr(line, " - ");
    if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) != 2 ||
        sscanf(rest, " - %15s %*s %255s", type, options) != 2)
        return;
    bool is_v2 = strcmp(type, "cgroup2") == 0;
    if (is_v2 || (strcmp(type, "cgroup") == 0 && list_has(options, "cpu")))
        read_mount(s, root, point, is_v2);
}

static void for_each_line(quota_search *s, const char *file,
                          void (*take)(quota_search *s, char *line))
{
    char line[3 * PATH_MAX];
    snprintf(line, sizeof line, "%s%s", s->root, file);
    FILE *in = fopen(line, "re");
    while (in && fgets(line, sizeof line, in))
        take(s, line);
    if (in)
        fclose(in);
}

void cpu_quota_describe(const char *root, char *out, size_t capacity)
{
    quota_search s = {.root = root};
    for_each_line(&s, "/proc/self/cgroup", take_path);
    for_each_line(&s, "/proc/self/mountinfo", take_mount);
    if (s.period_us > 0)
        snprintf(out, capacity, "%.2f CPUs (%lld us in %lld us)",
                 (double)s.quota_us / (double)s.period_us, s.quota_us, s.period_us);
    else
        snprintf(out, capacity, s.is_read ? "none" : "none that can be read");
}
