/* Describe the machine from /proc and /sys, for the header of a journal.  Writes JSON. */
#define _GNU_SOURCE
#include "machine.h"

#include "cpu_quota.h"
#include "safe_text.h"

#include <filch/runtime.h>
#include <filch/version.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
const char machine_compiler[] = __VERSION__;
#else
const char machine_compiler[] = "gcc " __VERSION__;
#endif

/* Control characters of Unicode, too: the output may go to a terminal. */
static void json_write_character(FILE *out, const char *text, int length)
{
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] == '"' || c[0] == '\\')
        fprintf(out, "\\%c", c[0]);
    else if (c[0] < ' ' || c[0] == 0x7f)
        fprintf(out, "\\u%04x", c[0]);
    else if (c[0] == 0xc2 && c[1] < 0xa0)
        fprintf(out, "\\u%04x", c[1]);
    else
        fwrite(text, (size_t)length, 1, out);
}

void json_write(FILE *out, const char *text)
{
    fputc('"', out);
    while (*text != '\0') {
        int n = utf8_length(text);
        if (n > 0)
            json_write_character(out, text, n);
        else
            fputc('?', out);
        text += n > 0 ? n : 1;
    }
    fputc('"', out);
}

static void write_member(FILE *out, const char *name, const char *value)
{
    json_write(out, name);
    fputc(':', out);
    json_write(out, value);
}

void machine_first_line(const char *path, char *out, size_t capacity)
{
    FILE *file = fopen(path, "re");
    if (!file || !fgets(out, (int)capacity, file))
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    if (file)
        fclose(file);
}

/* On ARM, /proc/cpuinfo has no model name. */
void machine_cpu(char *out, size_t capacity)
{
    static const char name[] = "model name";
    char line[512];
    struct utsname u;
    FILE *file = fopen("/proc/cpuinfo", "re");
    snprintf(out, capacity, "%s", uname(&u) == 0 ? u.machine : "unknown");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (colon && strncmp(line, name, strlen(name)) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(out, capacity, "%s", colon + 1 + strspn(colon + 1, " "));
            break;
        }
    }
    if (file)
        fclose(file);
}

static void cache_file(int index, const char *name, char *out, size_t capacity)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
    machine_first_line(path, out, capacity);
}

/* "L1 Data 48K, L2 Unified 1280K" */
static void describe_caches(char *out, size_t capacity)
{
    size_t used = 0;
    snprintf(out, capacity, "unknown");
    for (int i = 0; i < 8 && used < capacity; i++) {
        char level[16], type[32], size[32];
        cache_file(i, "level", level, sizeof level);
        cache_file(i, "type", type, sizeof type);
        cache_file(i, "size", size, sizeof size);
        if (level[0] == '\0' || strcmp(type, "Instruction") == 0)
            continue;
        used += (size_t)snprintf(out + used, capacity - used, "%sL%s %s", used > 0 ? ", " : "",
                                 level, size);
    }
}

/* CPUs of the machine, and of this process. */
static void describe_cpus(char *out, size_t capacity)
{
    snprintf(out, capacity, "%ld, of which this process may use %u (affinity, cgroup)",
             sysconf(_SC_NPROCESSORS_ONLN), filch_cpu_count());
}

void machine_write(FILE *out)
{
    char text[512];
    struct utsname u;
    struct sysinfo s;
    machine_cpu(text, sizeof text);
    fputc('{', out);
    write_member(out, "CPU", text);
    describe_cpus(text, sizeof text);
    fputc(',', out);
    write_member(out, "CPUs", text);
    describe_caches(text, sizeof text);
    fputc(',', out);
    write_member(out, "caches of CPU 0", text);
    if (sysinfo(&s) == 0) {
        snprintf(text, sizeof text, "%.1f GB", (double)s.totalram * s.mem_unit / 1e9);
        fputc(',', out);
        write_member(out, "memory", text);
    }
    if (uname(&u) == 0) {
        snprintf(text, sizeof text, "%s %s %s", u.sysname, u.release, u.machine);
        fputc(',', out);
        write_member(out, "kernel", text);
    }
    cpu_quota_describe("", text, sizeof text);
    fputc(',', out);
    write_member(out, "limit of the cgroup", text);
    fputc(',', out);
    write_member(out, "Filch", filch_version());
    fputc(',', out);
    write_member(out, "compiler", machine_compiler);
    fputc('}', out);
}

void machine_write_now(FILE *out)
{
    char date[64] = "unknown", text[64] = "unknown";
    double load[3];
    time_t now = time(NULL);
    struct tm t;
    if (gmtime_r(&now, &t))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &t);
    if (getloadavg(load, 3) == 3)
        snprintf(text, sizeof text, "%.2f %.2f %.2f", load[0], load[1], load[2]);
    fputc('{', out);
    write_member(out, "date", date);
    fputc(',', out);
    write_member(out, "load average", text);
    fputc('}', out);
}
