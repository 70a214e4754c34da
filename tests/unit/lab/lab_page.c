#define _GNU_SOURCE
/* Pages: as text, and as HTML in which text stays text whatever is in it; and rulers. */
#include "check.h"
#include "lab/escape.h"
#include "lab/page.h"
#include "lab/report.h"
#include "lab/ruler.h"

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

static bool has(const char *words)
{
    return strstr(text, words) != NULL;
}

static int count(const char *words)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, words)); p++)
        n++;
    return n;
}

static void text_stays_text(void **state)
{
    (void)state;
    FILE *out = begin();
    escape(out, "<script>\"a\" & 'b'</script>\a");
    fclose(out);
    CHECK_STR(text, "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;?");
}

/* ---- as text ---- */

static void tables_stand_in_columns(void **state)
{
    (void)state;
    lab_page *p = page_new("x");
    page_table(p, "Caption", "name|value|note");
    page_cell(p, "a");
    page_number(p, 1.25, 1);
    page_cell(p, "ok");
    page_cell(p, "long");
    page_number(p, NAN, 1);
    page_cell(p, "no");
    page_verdict(p, LAB_DIFFERS, "because of %d", 7);
    CHECK(!page_is_torn(p));
    FILE *out = begin();
    page_print(p, out);
    fclose(out);
    CHECK_STR(text, "Caption\n  name  value  note\n  a       1.2  ok\n  long      -  no\n\n"
                    "Beside the seed: differs.\nbecause of 7\n");
    page_free(p);
}

static void long_words_are_wrapped(void **state)
{
    (void)state;
    lab_page *p = page_new("x");
    page_say(p, "%0120d %0120d ab cd", 1, 2);
    FILE *out = begin();
    page_print(p, out);
    fclose(out);
    CHECK(has("1\n0"));
    CHECK(has("2\nab cd\n"));
    page_free(p);
}

static void a_cell_needs_a_table(void **state)
{
    (void)state;
    lab_page *p = page_new("x");
    page_cell(p, "a");
    CHECK(page_is_torn(p));
    page_free(p);
}

/* ---- as HTML ---- */

static void nothing(const lab_options *o, lab_plan *p)
{
    (void)o;
    (void)p;
}

static void tell_nothing(const lab_results *r, lab_page *page)
{
    (void)r;
    (void)page;
}

static const lab_experiment made_up = {"made-up", "A <title>",  "",   "Found: 1 < 2 & 3",
                                       nothing,   tell_nothing, NULL, NULL};

static void add_figures(lab_page *p)
{
    const draw_bar bars[] = {{"<g>", "a&b", 3, 2, 4, 0}, {"<g>", "c", NAN, NAN, NAN, 1}};
    const draw_point points[] = {{1, 2, 1, 3}, {10, 4, NAN, NAN}, {-5, 1, NAN, NAN}};
    const draw_series series[] = {{"\"s\"", points, 3, DRAW_LINE, false},
                                  {"fit", points, 2, DRAW_DASHES, true},
                                  {"other", points, 2, DRAW_POINTS, false}};
    page_figure(p, &(draw_chart){.title = "Bars <b>",
                                 .about = "a \"b\"",
                                 .x = {"ms", true, false},
                                 .bars = bars,
                                 .bar_count = 2,
                                 .base = 1});
    page_figure(p, &(draw_chart){.title = "Lines",
                                 .about = "",
                                 .x = {"k", true, false},
                                 .y = {"n", false, true},
                                 .series = series,
                                 .count = 3});
}

static void make_report(void)
{
    lab_section s = {.of = &made_up, .page = page_new("made-up")};
    s.results = results_new(
        "{\"asked\":{\"experiment\":\"made-up\",\"words\":\"<w>\",\"quick\":true,"
        "\"rounds\":2,\"workers\":2,\"cases\":2},\"machine\":{\"CPU\":\"<cpu>\"},"
        "\"begun\":{\"load average\":\"1.50 1.00 0.50\"},\"left_out\":[\"tbb: <gone>\"]}");
    CHECK(s.results != NULL);
    CHECK(results_add(s.results, "{\"key\":\"a#0\",\"took\":1,\"failed\":\"<bad>\"}") == 0);
    page_say(s.page, "words & more");
    add_figures(s.page);
    page_table(s.page, "<caption>", "a|b");
    page_cell(s.page, "<td>");
    page_cell(s.page, "1");
    page_summary(s.page, "short & sweet");
    CHECK(!page_is_torn(s.page));
    FILE *out = begin();
    report_html(out, &s, 1);
    fclose(out);
    page_free(s.page);
    results_free(s.results);
}

static void nothing_escapes(void **state)
{
    (void)state;
    make_report();
    static const char *const never[] = {"<title>A <", "1 < 2",        "<cpu>", "<gone>",
                                        "<bad>",      "<w>",          "<g>",   "a&b",
                                        "<b>\"",      "words & more", "\"s\"", "<caption>A"};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        CHECK(!has(never[i]));
    CHECK(has("1 &lt; 2 &amp; 3"));
    CHECK(has("&lt;cpu&gt;"));
    CHECK(has("left out: tbb: &lt;gone&gt;"));
    CHECK(has("failed: a#0 &lt;bad&gt;"));
    CHECK(has("filch lab made-up &lt;w&gt; --quick --workers 2 --repeat 2"));
    CHECK(has("The load average was above 1"));
    CHECK(has("not whole: 4 of 4 calls are missing"));
    CHECK(has("href=\"raw/made-up.jsonl\""));
    CHECK(has("&lt;caption&gt;</span></caption>"));
}

static void figures_are_told_apart(void **state)
{
    (void)state;
    make_report();
    CHECK_INT(count("<svg "), 4); /* two figures, for wide pages and for narrow ones */
    CHECK_INT(count("</svg>"), 4);
    CHECK_INT(count(" id=\"made-up-1-wide-t\""), 1);
    CHECK_INT(count(" id=\"made-up-2-narrow-t\""), 1);
    CHECK_INT(count("<desc "), 4);
    CHECK(has(">missing</text>")); /* a bar that is no number */
    CHECK(has("<g class=\"c1\">") &&
          !has("<g class=\"c2\">")); /* a fit has the colour of what it fits */
    CHECK(!has("nan") && !has("inf"));
    CHECK(!has("<script"));
    CHECK_INT(count("http"), count("http://www.w3.org/2000/svg")); /* no request to anybody */
}

/* ---- rulers ---- */

static void rulers(void **state)
{
    (void)state;
    double ticks[RULER_TICKS];
    char label[RULER_LABEL];
    ruler r = ruler_new(false);
    ruler_take(&r, 0);
    ruler_take(&r, 9.2);
    ruler_take(&r, NAN);
    ruler_round(&r, 100, 200);
    CHECK(r.least == 0 && r.most == 10);
    CHECK(ruler_at(&r, 5) == 150);
    CHECK_INT(ruler_ticks(&r, 5, ticks), 6);
    CHECK(ticks[5] == 10);

    r = ruler_new(true);
    ruler_take(&r, 0); /* has no logarithm */
    ruler_take(&r, 1);
    ruler_take(&r, 100);
    ruler_round(&r, 0, 1);
    CHECK(r.least < 1 && r.least > 0.5 && r.most > 100 && r.most < 200);
    CHECK(fabs(ruler_at(&r, 10) - 0.5) < 1e-9);
    CHECK_INT(ruler_ticks(&r, 8, ticks), 7);
    CHECK_INT(ruler_ticks(&r, 4, ticks), 3);

    ruler_label(27e6, label);
    CHECK_STR(label, "27M");
    ruler_label(0.05, label);
    CHECK_STR(label, "0.05");
    ruler_label(1500, label);
    CHECK_STR(label, "1.5k");
}

static void a_ruler_of_one_value(void **state)
{
    (void)state;
    double ticks[RULER_TICKS];
    for (int log = 0; log < 2; log++) {
        ruler r = ruler_new(log != 0);
        ruler_take(&r, 5);
        ruler_round(&r, 0, 100);
        CHECK(isfinite(ruler_at(&r, 5)));
        CHECK(ruler_ticks(&r, 5, ticks) > 0);
        r = ruler_new(log != 0); /* or of none */
        ruler_round(&r, 0, 100);
        CHECK(isfinite(ruler_at(&r, 1)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(text_stays_text),
        CHECK_TEST(tables_stand_in_columns),
        CHECK_TEST(long_words_are_wrapped),
        CHECK_TEST(a_cell_needs_a_table),
        CHECK_TEST(nothing_escapes),
        CHECK_TEST(figures_are_told_apart),
        CHECK_TEST(rulers),
        CHECK_TEST(a_ruler_of_one_value),
    };
    int failed = CHECK_RUN(tests);
    free(text);
    return failed;
}
