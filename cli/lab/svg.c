/* Change gnuplot's SVG so that it fits into the page: unique ids, the page's colours, a title.
 * Called by report_page.c. */
#define _GNU_SOURCE
#include "svg.h"

#include "escape.h"
#include "gnuplot.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* These functions write a replacement for the beginning of the text.  They return the length of
 * the replaced text, 0: none. */

/* Ids get a prefix.  gnuplot writes "bold" into the name of the font, and a white disc below a
 * point with error bars. */
static size_t replace_literal(FILE *out, const char *text, const char *id)
{
    static const struct {
        const char *from, *to;
        bool takes_prefix;
    } literals[] = {{" id='", " id='", true},
                    {" id=\"", " id=\"", true},
                    {"href='#", "href='#", true},
                    {":Bold\"", "\" font-weight=\"bold\"", false},
                    {" color='white'", " color='var(--page,white)'", false}};
    for (size_t i = 0; i < sizeof literals / sizeof literals[0]; i++)
        if (begins_with(text, literals[i].from)) {
            fputs(literals[i].to, out);
            if (literals[i].takes_prefix)
                fprintf(out, "%s-", id);
            return strlen(literals[i].from);
        }
    return 0;
}

/* gnuplot writes a title for each series. */
static size_t remove_title(const char *text)
{
    const char *end = begins_with(text, "<title>") ? strstr(text, "</title>") : NULL;
    return end ? (size_t)(end - text) + strlen("</title>") : 0;
}

/* A colour such as "rgb( 11, 114, 133)" becomes a variable of the page's style, with that colour
 * as its default. */
static size_t replace_colour(FILE *out, const char *text)
{
    static const char *const names[] = {"ink", "quiet", "line", "c0", "c1", "c2", "c3", "c4", "c5"};
    static const char *const others[] = {GNUPLOT_INK, GNUPLOT_QUIET, GNUPLOT_LINE};
    unsigned r, g, b;
    if (sscanf(text, "rgb(%u,%u,%u)", &r, &g, &b) != 3)
        return 0;
    for (int i = 0; i < 3 + GNUPLOT_COLOURS; i++) {
        const char *hex = i < 3 ? others[i] : gnuplot_colours[i - 3];
        if ((r << 16 | g << 8 | b) == strtoul(hex + 1, NULL, 16)) {
            fprintf(out, "var(--%s,%s)", names[i], hex);
            return strcspn(text, ")") + 1;
        }
    }
    return 0;
}

static void write_body(FILE *out, const char *text, const char *id)
{
    while (*text != '\0') {
        size_t n = replace_literal(out, text, id);
        if (n == 0)
            n = replace_colour(out, text);
        if (n == 0)
            n = remove_title(text);
        if (n == 0)
            fputc(*text, out);
        text += n > 0 ? n : 1;
    }
}

/* gnuplot's attributes, then ours. */
static void write_head(FILE *out, const char *svg, const char *id, const char *title,
                       const char *about)
{
    fprintf(out,
            "%.*s role=\"img\" aria-labelledby=\"%s-t %s-d\" "
            "style=\"background:var(--page,#fff)\">\n<title id=\"%s-t\">",
            (int)strcspn(svg, ">"), svg, id, id, id);
    escape(out, title);
    fprintf(out, "</title><desc id=\"%s-d\">", id);
    escape(out, about);
    fputs("</desc>\n", out);
}

char *svg_embed(const char *drawn, const char *id, const char *title, const char *about)
{
    char *embedded = NULL;
    size_t length;
    const char *svg = strstr(drawn, "<svg"), *body = svg ? strstr(svg, "</desc>") : NULL;
    FILE *out = body ? open_memstream(&embedded, &length) : NULL;
    if (!out)
        return NULL;
    write_head(out, svg, id, title, about);
    write_body(out, body + strlen("</desc>"), id);
    if (fclose(out) == 0)
        return embedded;
    free(embedded);
    return NULL;
}
