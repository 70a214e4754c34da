#define _GNU_SOURCE
/* Report pages as text and as HTML, in which all text is escaped; charts. */
#include "check.h"
#include "lab/escape.h"
#include "lab/report.h"
#include "lab/report_page.h"

#include <math.h>

static char *text;
static size_t length;

static FILE *begin(void)
{
    free(text);
    text = NULL;
    FILE *out = open_memstream(&text, &length);
    CHECK(out != NULL);
    return out;
}

static bool contains(const char *part)
{
    return strstr(text, part) != NULL;
}

static int count(const char *part)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, part)); p++)
        n++;
    return n;
}

static void html_is_escaped(void **state)
{
    (void)state;
    FILE *out = begin();
    escape(out, "<script>\"a\" & 'b'</script>\a");
    fclose(out);
    CHECK_STR(text, "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;?");
}

/* ---- as text ---- */

static void tables_are_aligned(void **state)
{
    (void)state;
    report_page *p = report_page_new("x");
    report_page_table(p, "Caption", "name|value|note");
    report_page_cell(p, "a");
    report_page_number(p, 1.25, 1);
    report_page_cell(p, "ok");
    report_page_cell(p, "long");
    report_page_number(p, NAN, 1);
    report_page_cell(p, "no");
    report_page_verdict(p, LAB_DIFFERS, "because of %d", 7);
    CHECK(!p->truncated);
    FILE *out = begin();
    report_page_print(p, out);
    fclose(out);
    CHECK_STR(text, "Caption\n  name  value  note\n  a       1.2  ok\n  long      -  no\n\n"
                    "Compared with the publication: differs.\nbecause of 7\n");
    report_page_free(p);
}

static void long_words_are_wrapped(void **state)
{
    (void)state;
    report_page *p = report_page_new("x");
    report_page_text(p, "%0120d %0120d ab cd", 1, 2);
    FILE *out = begin();
    report_page_print(p, out);
    fclose(out);
    CHECK(contains("1\n0"));
    CHECK(contains("2\nab cd\n"));
    report_page_free(p);
}

static void a_cell_needs_a_table(void **state)
{
    (void)state;
    report_page *p = report_page_new("x");
    report_page_cell(p, "a");
    CHECK(p->truncated);
    report_page_free(p);
}

/* ---- as HTML ---- */

static void nothing(const lab_options *o, lab_plan *p)
{
    (void)o;
    (void)p;
}

static void print_nothing(const lab_results *r, report_page *page)
{
    (void)r;
    (void)page;
}

static const lab_experiment made_up = {"made-up", "A <title>",   "",   "Found: 1 < 2 & 3",
                                       nothing,   print_nothing, NULL, NULL};

/* Without gnuplot no figure is drawn. */
static void check_drawn(report_page *p)
{
    const char *why = report_page_draw(p);
    if (gnuplot_missing())
        CHECK_STR(why, gnuplot_missing());
    else if (why)
        CHECK_STR(why, "");
}

static void add_charts(report_page *p)
{
    const chart_bar bars[] = {{"<g>", "a&b", 3, 2, 4, 0}, {"<g>", "c", NAN, NAN, NAN, 1}};
    const chart_point points[] = {{1, 2, 1, 3}, {10, 4, NAN, NAN}, {-5, 1, NAN, NAN}};
    const chart_series series[] = {{"<s>", points, 3, CHART_LINE, false},
                                   {"fit", points, 2, CHART_DASHES, true},
                                   {"other", points, 2, CHART_POINTS, false}};
    report_page_chart(p, &(chart){.title = "Bars <b>",
                                  .about = "a \"b\"",
                                  .x = {"ms", true},
                                  .bars = bars,
                                  .bar_count = 2,
                                  .base = 1});
    report_page_chart(p, &(chart){.title = "Lines",
                                  .about = "",
                                  .x = {"k", true},
                                  .y = {"n", false},
                                  .series = series,
                                  .count = 3});
}

static void make_report(void)
{
    lab_section s = {.of = &made_up, .page = report_page_new("made-up")};
    s.results = results_new(
        "{\"options\":{\"experiment\":\"made-up\",\"args\":\"<w>\",\"quick\":true,"
        "\"rounds\":2,\"workers\":2,\"cases\":2},\"machine\":{\"CPU\":\"<cpu>\"},"
        "\"started\":{\"load average\":\"1.50 1.00 0.50\"},\"left_out\":[\"tbb: <gone>\"]}");
    CHECK(s.results != NULL);
    CHECK(results_add(s.results, "{\"key\":\"a#0\",\"seconds\":1,\"failed\":\"<bad>\"}") == 0);
    report_page_text(s.page, "words & more");
    add_charts(s.page);
    report_page_table(s.page, "<caption>", "a|b");
    report_page_cell(s.page, "<td>");
    report_page_cell(s.page, "1");
    report_page_summary(s.page, "short & sweet");
    CHECK(!s.page->truncated);
    check_drawn(s.page);
    FILE *out = begin();
    report_html(out, &s, 1);
    fclose(out);
    report_page_free(s.page);
    results_free(s.results);
}

static void report_text_is_escaped(void **state)
{
    (void)state;
    make_report();
    static const char *const never[] = {"<title>A <", "1 < 2",        "<cpu>", "<gone>",
                                        "<bad>",      "<w>",          "<g>",   "a&b",
                                        "<b>\"",      "words & more", "<s>",   "<caption>A"};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        CHECK(!contains(never[i]));
    CHECK(contains("1 &lt; 2 &amp; 3"));
    CHECK(contains("&lt;cpu&gt;"));
    CHECK(contains("left out: tbb: &lt;gone&gt;"));
    CHECK(contains("failed: a#0 &lt;bad&gt;"));
    CHECK(contains("filch lab made-up &lt;w&gt; --quick --workers 2 --repeat 2"));
    CHECK(contains("The load average was above 1"));
    CHECK(contains("incomplete: 4 of 4 calls are missing"));
    CHECK(contains("href=\"raw/made-up.jsonl\""));
    CHECK(contains("&lt;caption&gt;</span></caption>"));
}

static void figures_have_legends_and_labels(void **state)
{
    (void)state;
    make_report();
    if (gnuplot_missing()) {
        CHECK_INT(count("(not drawn)"), 4);
        return;
    }
    CHECK_INT(count("<svg "), 4); /* two figures, each for wide and for narrow pages */
    CHECK_INT(count("</svg>"), 4);
    CHECK_INT(count(" id=\"made-up-1-wide-t\""), 1);
    CHECK_INT(count(" id=\"made-up-2-narrow-t\""), 1);
    CHECK_INT(count("<desc "), 4);
    CHECK_INT(count(">missing</text>"), 2); /* a bar without a value */
    CHECK(contains("'var(--c1,") &&
          !contains("'var(--c2,")); /* a fit has the colour of its series */
    CHECK(!contains("nan") && !contains("inf"));
    CHECK(!contains("<script"));
    CHECK_INT(count("http"), count("http://www.w3.org/")); /* no requests */
}

/* ---- charts ---- */

/* Charts with one value, without any, and without any inside the axes. */
static void charts_of_few_values(void **state)
{
    (void)state;
    const chart_bar bars[] = {{"g", "it's", 5, NAN, NAN, 1}, {"g", "a", NAN, NAN, NAN, 0}};
    const chart_point one = {5, 5, NAN, NAN}, not_positive = {0, -1, NAN, NAN};
    const chart_series series[] = {{"one", &one, 1, CHART_LINE, false},
                                   {"none", NULL, 0, CHART_POINTS, false},
                                   {"not positive", &not_positive, 1, CHART_POINTS, false}};
    int n_charts = 0;
    report_page *p = report_page_new("x");
    for (int i = 0; i < 2; i++)
        report_page_chart(
            p, &(chart){.title = "", .x = {"ms", true}, .bars = &bars[i], .bar_count = 1});
    for (int log = 0; log < 2; log++)
        for (int i = 0; i < 3; i++)
            report_page_chart(p, &(chart){.title = "",
                                          .x = {"k", log != 0},
                                          .y = {"n", log != 0},
                                          .series = &series[i],
                                          .count = 1});
    CHECK(!p->truncated);
    check_drawn(p);
    for (int i = 0; i < p->count; i++)
        n_charts += p->parts[i].kind == REPORT_PAGE_CHART;
    CHECK_INT(n_charts, 3); /* the others print that there is nothing to draw */
    report_page_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(html_is_escaped),        CHECK_TEST(tables_are_aligned),
        CHECK_TEST(long_words_are_wrapped), CHECK_TEST(a_cell_needs_a_table),
        CHECK_TEST(report_text_is_escaped), CHECK_TEST(figures_have_legends_and_labels),
        CHECK_TEST(charts_of_few_values),
    };
    int failed = CHECK_RUN(tests);
    free(text);
    return failed;
}
