/* Escape text for HTML and XML, for html.c and svg.c. */
#include "escape.h"

static const char *entity_of(unsigned char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* XML forbids most control characters. */
void escape(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        const char *entity = entity_of(c);
        if (entity)
            fputs(entity, out);
        else if (c >= ' ' || c == '\n' || c == '\t')
            fputc(c, out);
        else
            fputc('?', out);
    }
}
