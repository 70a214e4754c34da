/* Write events as JSON objects, for trace_json.c. */
#include "observe/chrome_events.h"

static void event_begin(fi_chrome *c, const char *phase, uint64_t group)
{
    fi_json_raw(&c->json, c->has_events ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    c->has_events = true;
    fi_json_raw(&c->json, phase);
    fi_json_raw(&c->json, "\",\"pid\":");
    fi_json_number(&c->json, group);
}

static void write_name(fi_chrome *c, const char *name)
{
    fi_json_raw(&c->json, ",\"name\":");
    fi_json_string(&c->json, name);
}

static void write_row(fi_chrome *c, uint64_t row)
{
    fi_json_raw(&c->json, ",\"tid\":");
    fi_json_number(&c->json, row);
}

static void write_time(fi_chrome *c, int64_t ns)
{
    fi_json_raw(&c->json, ",\"ts\":");
    fi_json_us(&c->json, ns);
}

/* ---- events with arguments ---- */

bool fi_chrome_slice(fi_chrome *c, fi_chrome_row at, int64_t from_ns, int64_t to_ns,
                     const char *category, const char *name)
{
    if (to_ns < c->from_ns || to_ns < from_ns)
        return false;
    if (from_ns < c->from_ns)
        from_ns = c->from_ns;
    event_begin(c, "X", at.group);
    write_row(c, at.row);
    write_time(c, from_ns);
    fi_json_raw(&c->json, ",\"dur\":");
    fi_json_us(&c->json, to_ns - from_ns);
    fi_json_raw(&c->json, ",\"cat\":");
    fi_json_string(&c->json, category);
    write_name(c, name);
    return true;
}

bool fi_chrome_instant(fi_chrome *c, fi_chrome_row at, int64_t ns, const char *name)
{
    if (ns < c->from_ns)
        return false;
    event_begin(c, "i", at.group);
    write_row(c, at.row);
    write_time(c, ns);
    fi_json_raw(&c->json, ",\"s\":\"t\"");
    write_name(c, name);
    return true;
}

bool fi_chrome_counter(fi_chrome *c, uint64_t group, int64_t ns, const char *name)
{
    if (ns < c->from_ns)
        return false;
    event_begin(c, "C", group);
    write_time(c, ns);
    write_name(c, name);
    return true;
}

void fi_chrome_color(fi_chrome *c, const char *name)
{
    fi_json_raw(&c->json, ",\"cname\":");
    fi_json_string(&c->json, name);
}

static void write_key(fi_chrome *c, const char *key)
{
    fi_json_raw(&c->json, c->in_args ? "," : ",\"args\":{");
    c->in_args = true;
    fi_json_string(&c->json, key);
    fi_json_raw(&c->json, ":");
}

void fi_chrome_arg_text(fi_chrome *c, const char *key, const char *value)
{
    write_key(c, key);
    fi_json_string(&c->json, value);
}

void fi_chrome_arg_number(fi_chrome *c, const char *key, uint64_t value)
{
    write_key(c, key);
    fi_json_number(&c->json, value);
}

void fi_chrome_end(fi_chrome *c)
{
    fi_json_raw(&c->json, c->in_args ? "}}" : "}");
    c->in_args = false;
}

/* ---- flows ---- */

static void flow_end(fi_chrome *c, const char *phase, fi_chrome_row at, int64_t ns)
{
    event_begin(c, phase, at.group);
    write_row(c, at.row);
    write_time(c, ns);
    fi_json_raw(&c->json, ",\"cat\":\"wake\",\"name\":\"wakes\",\"id\":");
    fi_json_number(&c->json, c->flows);
}

/* "bp":"e" binds the end to the enclosing slice instead of the next one. */
void fi_chrome_flow(fi_chrome *c, fi_chrome_row from, int64_t from_ns, fi_chrome_row to,
                    int64_t to_ns)
{
    if (from_ns < c->from_ns)
        return;
    c->flows++;
    flow_end(c, "s", from, from_ns);
    fi_json_raw(&c->json, "}");
    flow_end(c, "f", to, to_ns);
    fi_json_raw(&c->json, ",\"bp\":\"e\"}");
}

/* ---- names ---- */

static void metadata_begin(fi_chrome *c, fi_chrome_row at, const char *what)
{
    event_begin(c, "M", at.group);
    write_row(c, at.row);
    write_name(c, what);
}

void fi_chrome_group_name(fi_chrome *c, uint64_t group, const char *name, uint64_t order)
{
    metadata_begin(c, (fi_chrome_row){group, 0}, "process_name");
    fi_chrome_arg_text(c, "name", name);
    fi_chrome_end(c);
    metadata_begin(c, (fi_chrome_row){group, 0}, "process_sort_index");
    fi_chrome_arg_number(c, "sort_index", order);
    fi_chrome_end(c);
}

void fi_chrome_row_name(fi_chrome *c, fi_chrome_row at, const char *name, uint64_t order)
{
    metadata_begin(c, at, "thread_name");
    fi_chrome_arg_text(c, "name", name);
    fi_chrome_end(c);
    metadata_begin(c, at, "thread_sort_index");
    fi_chrome_arg_number(c, "sort_index", order);
    fi_chrome_end(c);
}
