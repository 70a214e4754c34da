/* Write the first line of a journal, for runner.c. */
#define _GNU_SOURCE
#include "run_header.h"

#include "machine.h"
#include "plan.h"

#include <filch/runtime.h>
#include <filch/version.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_args(FILE *out, const lab_options *o)
{
    char all[256] = "";
    for (int i = 0; o->args[i]; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? " " : "", o->args[i]);
    }
    json_write(out, all);
}

/* Not settings of the runtime. */
static bool is_setting(const char *variable)
{
    static const char *const others[] = {"FILCH_BENCH_DIR=", "FILCH_CC=", "FILCH_WERROR="};
    for (int i = 0; i < 3; i++)
        if (strncmp(variable, others[i], strlen(others[i])) == 0)
            return false;
    return strncmp(variable, "FILCH_", 6) == 0;
}

/* Settings in our environment also apply to the programs. */
static void write_settings(FILE *out)
{
    char all[512] = "";
    for (char **e = environ; *e; e++) {
        size_t used = strlen(all);
        if (is_setting(*e))
            snprintf(all + used, sizeof all - used, "%s%s", used > 0 ? " " : "", *e);
    }
    json_write(out, all);
}

/* The options that identify the run. */
static void write_options(FILE *out, const lab_experiment *e, const lab_options *o,
                          const lab_plan *p)
{
    char cpu[256];
    machine_cpu(cpu, sizeof cpu);
    fprintf(out, "{\"experiment\":\"%s\",\"args\":", e->name);
    write_args(out, o);
    fprintf(out, ",\"quick\":%s,\"rounds\":%d,\"workers\":%u,\"cpus\":%u",
            o->quick ? "true" : "false", p->rounds, o->workers, filch_cpu_count());
    fprintf(out, ",\"Filch\":\"%s\",\"CPU\":", filch_version());
    json_write(out, cpu);
    fputs(",\"settings\":", out);
    write_settings(out);
    fprintf(out, ",\"cases\":%d,\"programs\":\"%016lx\"}", p->count, plan_mark(p));
}

static void write_left_out(FILE *out, const lab_plan *p)
{
    char line[640];
    fputc('[', out);
    for (const char *l = p->left_out; *l != '\0'; l += strcspn(l, "\n") + 1) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(l, "\n"), l);
        fputs(l > p->left_out ? "," : "", out);
        json_write(out, line);
    }
    fputc(']', out);
}

char *run_header(const lab_experiment *e, const lab_options *o, const lab_plan *p)
{
    char *head = NULL;
    size_t length;
    FILE *out = open_memstream(&head, &length);
    if (!out)
        return NULL;
    fputs("{\"options\":", out);
    write_options(out, e, o, p);
    fputs(",\"machine\":", out);
    machine_write(out);
    fputs(",\"started\":", out);
    machine_write_now(out);
    fputs(",\"left_out\":", out);
    write_left_out(out, p);
    fputs("}", out);
    if (fclose(out) == 0)
        return head;
    free(head);
    return NULL;
}
