#include "observe/chrome_events.h"

/* All event_begin alike. */
static void event_begin(fi_chrome *d, const char *phase, uint64_t group)
{
    fi_json_raw(&d->json, d->has_events ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    d->has_events = true;
    fi_json_raw(&d->json, phase);
    fi_json_raw(&d->json, "\",\"pid\":");
    fi_json_number(&d->json, group);
}

static void write_name(fi_chrome *d, const char *name)
{
    fi_json_raw(&d->json, ",\"name\":");
    fi_json_string(&d->json, name);
}

static void write_row(fi_chrome *d, uint64_t row)
{
    fi_json_raw(&d->json, ",\"tid\":");
    fi_json_number(&d->json, row);
}

static void write_time(fi_chrome *d, int64_t ns)
{
    fi_json_raw(&d->json, ",\"ts\":");
    fi_json_us(&d->json, ns);
}

/* ---- things with arguments ---- */

bool fi_chrome_slice(fi_chrome *d, fi_chrome_row at, int64_t from_ns, int64_t to_ns,
                     const char *category, const char *name)
{
    if (to_ns < d->from_ns || to_ns < from_ns)
        return false;
    if (from_ns < d->from_ns)
        from_ns = d->from_ns;
    event_begin(d, "X", at.group);
    write_row(d, at.row);
    write_time(d, from_ns);
    fi_json_raw(&d->json, ",\"dur\":");
    fi_json_us(&d->json, to_ns - from_ns);
    fi_json_raw(&d->json, ",\"cat\":");
    fi_json_string(&d->json, category);
    write_name(d, name);
    return true;
}

bool fi_chrome_instant(fi_chrome *d, fi_chrome_row at, int64_t ns, const char *name)
{
    if (ns < d->from_ns)
        return false;
    event_begin(d, "i", at.group);
    write_row(d, at.row);
    write_time(d, ns);
    fi_json_raw(&d->json, ",\"s\":\"t\"");
    write_name(d, name);
    return true;
}

bool fi_chrome_counter(fi_chrome *d, uint64_t group, int64_t ns, const char *name)
{
    if (ns < d->from_ns)
        return false;
    event_begin(d, "C", group);
    write_time(d, ns);
    write_name(d, name);
    return true;
}

void fi_chrome_color(fi_chrome *d, const char *name)
{
    fi_json_raw(&d->json, ",\"cname\":");
    fi_json_string(&d->json, name);
}

static void write_key(fi_chrome *d, const char *key)
{
    fi_json_raw(&d->json, d->in_args ? "," : ",\"args\":{");
    d->in_args = true;
    fi_json_string(&d->json, key);
    fi_json_raw(&d->json, ":");
}

void fi_chrome_arg_text(fi_chrome *d, const char *key, const char *value)
{
    write_key(d, key);
    fi_json_string(&d->json, value);
}

void fi_chrome_arg_number(fi_chrome *d, const char *key, uint64_t value)
{
    write_key(d, key);
    fi_json_number(&d->json, value);
}

void fi_chrome_end(fi_chrome *d)
{
    fi_json_raw(&d->json, d->in_args ? "}}" : "}");
    d->in_args = false;
}

/* ---- flows ---- */

static void flow_end(fi_chrome *d, const char *phase, fi_chrome_row at, int64_t ns)
{
    event_begin(d, phase, at.group);
    write_row(d, at.row);
    write_time(d, ns);
    fi_json_raw(&d->json, ",\"cat\":\"wake\",\"name\":\"wakes\",\"id\":");
    fi_json_number(&d->json, d->flows);
}

/* "bp" binds it to the slice around it, and not to the next one. */
void fi_chrome_flow(fi_chrome *d, fi_chrome_row from, int64_t from_ns, fi_chrome_row to,
                    int64_t to_ns)
{
    if (from_ns < d->from_ns)
        return;
    d->flows++;
    flow_end(d, "s", from, from_ns);
    fi_json_raw(&d->json, "}");
    flow_end(d, "f", to, to_ns);
    fi_json_raw(&d->json, ",\"bp\":\"e\"}");
}

/* ---- names ---- */

static void metadata_begin(fi_chrome *d, fi_chrome_row at, const char *what)
{
    event_begin(d, "M", at.group);
    write_row(d, at.row);
    write_name(d, what);
}

void fi_chrome_group_name(fi_chrome *d, uint64_t group, const char *name, uint64_t order)
{
    metadata_begin(d, (fi_chrome_row){group, 0}, "process_name");
    fi_chrome_arg_text(d, "name", name);
    fi_chrome_end(d);
    metadata_begin(d, (fi_chrome_row){group, 0}, "process_sort_index");
    fi_chrome_arg_number(d, "sort_index", order);
    fi_chrome_end(d);
}

void fi_chrome_row_name(fi_chrome *d, fi_chrome_row at, const char *name, uint64_t order)
{
    metadata_begin(d, at, "thread_name");
    fi_chrome_arg_text(d, "name", name);
    fi_chrome_end(d);
    metadata_begin(d, at, "thread_sort_index");
    fi_chrome_arg_number(d, "sort_index", order);
    fi_chrome_end(d);
}
