/* The trace of a failing execution: one line per operation, a heading whenever the thread changes.
 */
#include "explore/machine.h"

#include <inttypes.h>
#include <string.h>

bool tracing;

static struct {
    const check *check;
    FILE *to;
    int line, thread;
} t;

void trace_start(const check *c, FILE *to)
{
    t.check = c;
    t.to = to;
    t.line = 0;
    t.thread = -1;
}

const char *order_name(order o)
{
    static const char *const names[] = {"none",    "plain",   "relaxed", "acquire",
                                        "release", "acq_rel", "rmw",     "seq_cst"};
    return names[o];
}

const char *mode_name(mode m)
{
    static const char *const names[] = {"rc11", "imm", "tso"};
    return names[m];
}

const char *verdict_name(verdict v)
{
    static const char *const names[] = {"ok",    "lost", "twice", "race",
                                        "freed", "hang", "wrong", "limit"};
    return names[v];
}

const char *value_text(uint64_t value)
{
    static char text[48];
    const char *name = t.check->value_name ? t.check->value_name(value) : NULL;
    if (name)
        return name;
    if (machine_allocated(value))
        return "(array)";
    if (value > UINT32_MAX) /* two halves: an index and a version */
        snprintf(text, sizeof text, "%" PRIu32 ".%" PRIu32, (uint32_t)(value >> 32),
                 (uint32_t)value);
    else
        snprintf(text, sizeof text, "%" PRIu64, value);
    return text;
}

static void heading(void)
{
    if (search_self() == t.thread)
        return;
    t.thread = search_self();
    fprintf(t.to, "  %s\n", t.check->thread_name(t.thread));
}

void trace_note(const char *text)
{
    heading();
    fprintf(t.to, "        %s\n", text);
}

void trace_operation(const char *what, const char *where, uint64_t value, const site *s,
                     const char *remark)
{
    if (search_in_setup())
        return;
    heading();
    char line[160];
    int n =
        snprintf(line, sizeof line, "    %3d   %-5s %-8s %-7s %-8s %-22s %s", ++t.line, what, where,
                 value == NO_VALUE ? "" : value_text(value), order_name(s->now), s->label, remark);
    while (n > 0 && line[n - 1] == ' ')
        line[--n] = '\0';
    fprintf(t.to, "%s\n", line);
}

void trace_flush(int thread, const char *where, uint64_t value)
{
    fprintf(t.to, "  (the %s's %s = %s reaches memory)\n", t.check->thread_name(thread), where,
            value_text(value));
    t.thread = -1;
}
