#include "observe/trace_draw.h"

/* All begin alike. */
static void begin(fi_draw *d, const char *phase, uint64_t group)
{
    fi_json_raw(&d->json, d->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    d->any = true;
    fi_json_raw(&d->json, phase);
    fi_json_raw(&d->json, "\",\"pid\":");
    fi_json_number(&d->json, group);
}

static void put_name(fi_draw *d, const char *name)
{
    fi_json_raw(&d->json, ",\"name\":");
    fi_json_string(&d->json, name);
}

static void put_row(fi_draw *d, uint64_t row)
{
    fi_json_raw(&d->json, ",\"tid\":");
    fi_json_number(&d->json, row);
}

static void put_time(fi_draw *d, int64_t ns)
{
    fi_json_raw(&d->json, ",\"ts\":");
    fi_json_us(&d->json, ns);
}

/* ---- things with arguments ---- */

bool fi_draw_slice(fi_draw *d, fi_draw_row at, int64_t from_ns, int64_t to_ns, const char *category,
                   const char *name)
{
    if (to_ns < d->from_ns || to_ns < from_ns)
        return false;
    if (from_ns < d->from_ns)
        from_ns = d->from_ns;
    begin(d, "X", at.group);
    put_row(d, at.row);
    put_time(d, from_ns);
    fi_json_raw(&d->json, ",\"dur\":");
    fi_json_us(&d->json, to_ns - from_ns);
    fi_json_raw(&d->json, ",\"cat\":");
    fi_json_string(&d->json, category);
    put_name(d, name);
    return true;
}

bool fi_draw_instant(fi_draw *d, fi_draw_row at, int64_t ns, const char *name)
{
    if (ns < d->from_ns)
        return false;
    begin(d, "i", at.group);
    put_row(d, at.row);
    put_time(d, ns);
    fi_json_raw(&d->json, ",\"s\":\"t\"");
    put_name(d, name);
    return true;
}

bool fi_draw_counter(fi_draw *d, uint64_t group, int64_t ns, const char *name)
{
    if (ns < d->from_ns)
        return false;
    begin(d, "C", group);
    put_time(d, ns);
    put_name(d, name);
    return true;
}

void fi_draw_color(fi_draw *d, const char *name)
{
    fi_json_raw(&d->json, ",\"cname\":");
    fi_json_string(&d->json, name);
}

static void put_key(fi_draw *d, const char *key)
{
    fi_json_raw(&d->json, d->in_args ? "," : ",\"args\":{");
    d->in_args = true;
    fi_json_string(&d->json, key);
    fi_json_raw(&d->json, ":");
}

void fi_draw_text(fi_draw *d, const char *key, const char *value)
{
    put_key(d, key);
    fi_json_string(&d->json, value);
}

void fi_draw_count(fi_draw *d, const char *key, uint64_t value)
{
    put_key(d, key);
    fi_json_number(&d->json, value);
}

void fi_draw_end(fi_draw *d)
{
    fi_json_raw(&d->json, d->in_args ? "}}" : "}");
    d->in_args = false;
}

/* ---- arrows ---- */

static void put_end_of_arrow(fi_draw *d, const char *phase, fi_draw_row at, int64_t ns)
{
    begin(d, phase, at.group);
    put_row(d, at.row);
    put_time(d, ns);
    fi_json_raw(&d->json, ",\"cat\":\"wake\",\"name\":\"wakes\",\"id\":");
    fi_json_number(&d->json, d->arrows);
}

/* "bp" binds it to the slice around it, and not to the next one. */
void fi_draw_arrow(fi_draw *d, fi_draw_row from, int64_t from_ns, fi_draw_row to, int64_t to_ns)
{
    if (from_ns < d->from_ns)
        return;
    d->arrows++;
    put_end_of_arrow(d, "s", from, from_ns);
    fi_json_raw(&d->json, "}");
    put_end_of_arrow(d, "f", to, to_ns);
    fi_json_raw(&d->json, ",\"bp\":\"e\"}");
}

/* ---- names ---- */

static void put_metadata(fi_draw *d, fi_draw_row at, const char *what)
{
    begin(d, "M", at.group);
    put_row(d, at.row);
    put_name(d, what);
}

void fi_draw_name_group(fi_draw *d, uint64_t group, const char *name, uint64_t order)
{
    put_metadata(d, (fi_draw_row){group, 0}, "process_name");
    fi_draw_text(d, "name", name);
    fi_draw_end(d);
    put_metadata(d, (fi_draw_row){group, 0}, "process_sort_index");
    fi_draw_count(d, "sort_index", order);
    fi_draw_end(d);
}

void fi_draw_name_row(fi_draw *d, fi_draw_row at, const char *name, uint64_t order)
{
    put_metadata(d, at, "thread_name");
    fi_draw_text(d, "name", name);
    fi_draw_end(d);
    put_metadata(d, at, "thread_sort_index");
    fi_draw_count(d, "sort_index", order);
    fi_draw_end(d);
}
