/* The report as HTML. */
#define _GNU_SOURCE
#include "report.h"

#include "escape.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

/* ---- style ---- */

/* Charts and text use the same colours.  The dark ones and the narrow layout are for screens
 * only. */
static const char style[] =
    ":root{--page:#fff;--ink:#1b1f24;--quiet:#57606a;--line:#d8dee4;--soft:#f6f8fa;"
    "--link:#0b5ed7;--good:#1a7f37;--bad:#b3261e;--open:#57606a;\n"
    "--c0:#0b7285;--c1:#c2410c;--c2:#5f3dc4;--c3:#6a737d;--c4:#8a6100;--c5:#2b8a3e}\n"
    "@media screen and "
    "(prefers-color-scheme:dark){:root{--page:#14171a;--ink:#e6e8eb;--quiet:#a3abb5;"
    "--line:#333a42;--soft:#1c2126;--link:#79b8ff;--good:#56d364;--bad:#ff8a80;--open:#a3abb5;\n"
    "--c0:#3bc9db;--c1:#ff922b;--c2:#b197fc;--c3:#adb5bd;--c4:#ffd43b;--c5:#69db7c}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:62rem;padding:1.5rem 1rem 4rem;background:var(--page);"
    "color:var(--ink);font:1rem/1.55 system-ui,sans-serif;overflow-wrap:break-word}\n"
    "h1{font-size:1.9rem;line-height:1.2;margin:0 0 .5rem}\n"
    "h2{font-size:1.35rem;line-height:1.3;margin:0 0 .75rem}\n"
    "h3{font-size:1rem;margin:0 0 .35rem}\n"
    "p{margin:0 0 1rem;max-width:48rem}a{color:var(--link)}\n"
    ".over{margin:0;color:var(--quiet);letter-spacing:.08em;text-transform:uppercase;"
    "font-size:.8rem}\n"
    ".lead{font-size:1.1rem;color:var(--quiet)}.quiet{color:var(--quiet);font-size:.9rem}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.25rem;margin:0;"
    "font-size:.9rem}\n"
    "dl+p{margin:1rem 0 0}dt{color:var(--quiet)}dd{margin:0;min-width:0}\n"
    "nav,body>section,main>section{border-top:1px solid "
    "var(--line);padding-top:1.5rem;margin-top:2rem}\n"
    "nav ul{list-style:none;padding:0;margin:0}nav li{margin:0 0 .9rem}\n"
    ".badge{display:inline-block;border:1px solid;border-radius:1rem;padding:0 .6rem;"
    "font-size:.85rem;font-weight:600;white-space:nowrap}\n"
    ".agrees{color:var(--good)}.differs{color:var(--bad)}.open{color:var(--open)}\n"
    ".published,.verdict{background:var(--soft);border-left:3px solid var(--line);"
    "padding:.75rem 1rem;margin:0 0 1rem}\n"
    ".published p,.verdict p{margin:0}.verdict{border-left-color:var(--c0)}\n"
    "figure{margin:1.5rem 0}figcaption{color:var(--quiet);font-size:.9rem;margin-top:.5rem}\n"
    "figcaption b{color:var(--ink)}\n"
    "svg{display:block;max-width:100%;height:auto}svg text{font-family:system-ui,sans-serif}\n"
    ".narrow{display:none}\n"
    ".scroll{overflow-x:auto;margin:1.25rem 0}\n"
    "table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums;"
    "width:100%}\n"
    "caption{text-align:left;color:var(--quiet);padding:0 0 .4rem}\n"
    "caption span{display:block;position:sticky;left:0;max-width:min(60rem,calc(100vw - 2rem))}\n"
    "th,td{padding:.25rem .45rem;text-align:left;border-bottom:1px solid var(--line);"
    "white-space:nowrap}\n"
    "thead th{border-bottom:2px solid var(--line);color:var(--quiet);font-weight:600}\n"
    "tbody th{font-weight:400}.n{text-align:right}tbody .again{color:transparent}\n"
    "pre{background:var(--soft);padding:.6rem .8rem;white-space:pre-wrap;font-size:.85rem;"
    "margin:0 0 .75rem}\n"
    "ul.quiet{padding-left:1.2rem;margin:0}\n"
    "@media screen and (max-width:800px){.wide{display:none}.narrow{display:block}"
    "dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}}\n"
    "@media print{body{max-width:none;padding:0;font-size:10pt}.scroll,pre{overflow:visible}\n"
    "main>section{break-before:page;border:0}thead{display:table-header-group}\n"
    "figure,tr,.published,.verdict,.scroll{break-inside:avoid}h2,h3,caption{break-after:avoid}}\n";

/* ---- elements ---- */

static void write_element(FILE *out, const char *tag, const char *text)
{
    fprintf(out, "<%s>", tag);
    escape(out, text);
    fprintf(out, "</%s>\n", tag);
}

/* Decode a JSON string. */
static void escape_json(FILE *out, const char *value)
{
    char text[1024];
    if (json_string(value, text, sizeof text))
        escape(out, text);
}

static const char *class_of(lab_verdict v)
{
    return v == LAB_AGREES ? "agrees" : v == LAB_DIFFERS ? "differs" : "open";
}

/* A sign before the word, so that colour is not the only difference. */
static void write_badge(FILE *out, lab_verdict v)
{
    static const char *const signs[] = {"?", "&#10003;", "&#8800;"};
    fprintf(out, "<span class=\"badge %s\">%s %s</span>", class_of(v), signs[v],
            lab_verdict_names[v]);
}

static void write_duration(FILE *out, double seconds)
{
    if (seconds < 100)
        fprintf(out, "%.0f s", seconds);
    else
        fprintf(out, "%.0f min %.0f s", (double)(long)(seconds / 60), (double)((long)seconds % 60));
}

/* ---- the head ---- */

static void write_pair(FILE *out, const char *name, const char *json)
{
    fputs("<dt>", out);
    escape(out, name);
    fputs("</dt><dd>", out);
    escape_json(out, json);
    fputs("</dd>\n", out);
}

static void write_pairs(FILE *out, const char *object)
{
    for (const char *m = object ? json_begin(object) : NULL; m; m = json_next(m)) {
        char name[64] = "";
        json_string(m, name, sizeof name);
        write_pair(out, name, json_value(m));
    }
}

static bool is_noted(char *noted, size_t capacity, const char *version)
{
    if (strstr(noted, version))
        return true;
    size_t used = strlen(noted);
    snprintf(noted + used, capacity - used, "%s\n", version);
    return false;
}

/* The versions that programs report, each once. */
static void write_versions(FILE *out, const lab_section *sections, int n)
{
    char noted[1024] = "";
    for (int s = 0; s < n; s++) {
        const lab_results *r = sections[s].results;
        for (int i = 0; i < r->count; i++) {
            char version[128], runtime[64];
            const char *report = r->all[i].report;
            if (report && json_string(json_member(report, "version"), version, sizeof version) &&
                json_string(json_member(report, "runtime"), runtime, sizeof runtime) &&
                !is_noted(noted, sizeof noted, version))
                write_pair(out, runtime, json_member(report, "version"));
        }
    }
}

static double seconds_of_all(const lab_section *sections, int n)
{
    double all = 0;
    for (int i = 0; i < n; i++)
        all += results_seconds(sections[i].results);
    return all;
}

/* Other load widens the spreads. */
static void write_load(FILE *out, const lab_section *s)
{
    char text[64];
    const char *started = results_head(s->results, "started");
    if (started && json_string(json_member(started, "load average"), text, sizeof text) &&
        strtod(text, NULL) > 1)
        fprintf(
            out,
            "<p>The load average was above 1 at the start, so other processes used the machine. "
            "Spreads "
            "are wider than on an idle machine, and small differences may come from them.</p>\n");
}

static void write_head(FILE *out)
{
    fputs("<header>\n<p class=\"over\">Filch</p>\n<h1>Results of filch lab</h1>\n"
          "<p class=\"lead\">Published figures about work stealing, reproduced with measurements "
          "of one "
          "machine. Every number below is of this run.</p>\n</header>\n",
          out);
}

static void write_machine(FILE *out, const lab_section *sections, int n)
{
    fputs("<section aria-labelledby=\"machine\"><h2 id=\"machine\">Machine and "
          "versions</h2>\n<dl>\n",
          out);
    write_pairs(out, results_head(sections[0].results, "machine"));
    write_versions(out, sections, n);
    write_pairs(out, results_head(sections[0].results, "started"));
    fputs("<dt>measured for</dt><dd>", out);
    write_duration(out, seconds_of_all(sections, n));
    fputs("</dd>\n<dt>random numbers</dt><dd>fixed seeds for the inputs of the programs; "
          "intervals by 2,000 bootstrap draws with seed 1</dd>\n</dl>\n",
          out);
    write_load(out, &sections[0]);
    fputs("</section>\n", out);
}

static void write_contents(FILE *out, const lab_section *sections, int n)
{
    fputs("<nav aria-labelledby=\"contents\"><h2 id=\"contents\">Summary</h2>\n<ul>\n", out);
    for (int i = 0; i < n; i++) {
        const char *text;
        fprintf(out, "<li><a href=\"#%s\">", sections[i].of->name);
        escape(out, sections[i].of->title);
        fputs("</a> ", out);
        write_badge(out, report_page_verdict_of(sections[i].page, &text));
        fputs("<br>", out);
        escape(out, report_page_summary_of(sections[i].page));
        fputs("</li>\n", out);
    }
    fputs("</ul></nav>\n", out);
}

/* ---- sections ---- */

/* Does the row above begin with the same text?  Then this one is hidden, but still read by
 * screen readers. */
static bool is_repeated(const report_page_part *t, int i)
{
    return i >= 2 * t->columns && strcmp(t->cells[i], t->cells[i - t->columns]) == 0;
}

static void write_cell(FILE *out, const report_page_part *t, int i)
{
    int column = i % t->columns;
    bool is_head = i < t->columns;
    const char *tag = is_head || column == 0 ? "th" : "td";
    const char *scope = is_head ? " scope=\"col\"" : column == 0 ? " scope=\"row\"" : "";
    const char *class = report_page_is_number_column(t, column) ? " class=\"n\""
                        : column == 0 && is_repeated(t, i)      ? " class=\"again\""
                                                                : "";
    fprintf(out, "<%s%s%s>", tag, scope, class);
    escape(out, t->cells[i]);
    fprintf(out, "</%s>", tag);
}

static void write_table(FILE *out, const report_page_part *t)
{
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", out);
    escape(out, t->text);
    fputs("\"><table><caption><span>", out);
    escape(out, t->text);
    fputs("</span></caption>\n", out);
    for (int i = 0; i < t->cell_count; i++) {
        int column = i % t->columns;
        bool is_head = i < t->columns;
        if (column == 0)
            fputs(is_head ? "<thead><tr>" : "<tr>", out);
        write_cell(out, t, i);
        if (column + 1 == t->columns)
            fputs(is_head ? "</tr></thead><tbody>\n" : "</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void write_drawing(FILE *out, const report_page_drawing *d, const char *class)
{
    fprintf(out, "<div class=\"%s\">%s</div>", class, d->svg ? d->svg : "<p>(not drawn)</p>");
}

static void write_chart(FILE *out, const report_page_part *f)
{
    fputs("<figure>\n", out);
    write_drawing(out, &f->drawings[REPORT_PAGE_WIDE], "wide");
    write_drawing(out, &f->drawings[REPORT_PAGE_NARROW], "narrow");
    fputs("\n<figcaption><b>", out);
    escape(out, f->text);
    fputs("</b> ", out);
    escape(out, f->about);
    fputs("</figcaption>\n</figure>\n", out);
}

static void write_parts(FILE *out, const report_page *p)
{
    for (int i = 0; i < p->count; i++) {
        const report_page_part *part = &p->parts[i];
        if (part->kind == REPORT_PAGE_TABLE)
            write_table(out, part);
        else if (part->kind == REPORT_PAGE_CHART)
            write_chart(out, part);
        else
            write_element(out, "p", part->text);
    }
}

static void write_left_out(FILE *out, const lab_results *r)
{
    const char *all = results_head(r, "left_out");
    for (const char *l = all ? json_begin(all) : NULL; l; l = json_next(l)) {
        fputs("<li>left out: ", out);
        escape_json(out, l);
        fputs("</li>\n", out);
    }
    for (int i = 0; i < r->count; i++) {
        if (!r->all[i].failed || results_find(r, r->all[i].key))
            continue;
        fputs("<li>failed: ", out);
        escape(out, r->all[i].key);
        fputc(' ', out);
        escape_json(out, r->all[i].failed);
        fputs("</li>\n", out);
    }
}

static void write_how(FILE *out, const lab_section *s)
{
    char *command = NULL;
    size_t length;
    const lab_results *r = s->results;
    int all = (int)results_option(r, "cases") * lab_rounds(r), good = results_n_good(r);
    FILE *text = open_memstream(&command, &length);
    if (text) {
        report_command(s, text);
        fclose(text);
    }
    fputs("<h3>How to repeat it</h3>\n<pre><code>", out);
    escape(out, command ? command : "");
    free(command);
    fprintf(out, "</code></pre>\n<ul class=\"quiet\">\n<li>%d calls of programs, ", good);
    write_duration(out, results_seconds(r));
    fprintf(out,
            ", in %d rounds; their output is in <a href=\"raw/%s.jsonl\">raw/%s.jsonl"
            "</a></li>\n",
            lab_rounds(r), s->of->name, s->of->name);
    if (good < all)
        fprintf(out, "<li>incomplete: %d of %d calls are missing</li>\n", all - good, all);
    if (lab_was_quick(r))
        fputs("<li>small sizes (--quick), not those of the publication</li>\n", out);
    write_left_out(out, r);
    fputs("</ul>\n", out);
}

static void write_section(FILE *out, const lab_section *s)
{
    const char *why;
    lab_verdict v = report_page_verdict_of(s->page, &why);
    fprintf(out, "<section id=\"%s\">\n", s->of->name);
    write_element(out, "h2", s->of->title);
    fputs("<div class=\"published\"><h3>What was published</h3>\n", out);
    write_element(out, "p", s->of->published);
    fputs("</div>\n<div class=\"verdict\"><h3>This run compared with it: ", out);
    write_badge(out, v);
    fputs("</h3>\n", out);
    write_element(out, "p", why);
    fputs("</div>\n", out);
    write_parts(out, s->page);
    write_how(out, s);
    fputs("</section>\n", out);
}

void report_html(FILE *out, const lab_section *sections, int n)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n"
          "<title>Filch: results of filch lab</title>\n<style>\n",
          out);
    fputs(style, out);
    fputs("</style>\n</head>\n<body>\n", out);
    write_head(out);
    write_contents(out, sections, n);
    if (n > 0)
        write_machine(out, sections, n);
    fputs("<main>\n", out);
    for (int i = 0; i < n; i++)
        write_section(out, &sections[i]);
    fputs("</main>\n</body>\n</html>\n", out);
}
