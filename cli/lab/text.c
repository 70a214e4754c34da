/* A report page as text. */
#include "report_page.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 100 };

/* Lines are wrapped at spaces to LINE characters. */
static void print_wrapped(FILE *out, const char *text)
{
    size_t at = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (at > 0 && at + 1 + length > LINE) {
            fputc('\n', out);
            at = 0;
        }
        fprintf(out, "%s%.*s", at > 0 ? " " : "", (int)length, text);
        at += length + (at > 0);
        text += length + strspn(text + length, " ");
    }
    fputc('\n', out);
}

static int column_width(const report_page_part *table, int column)
{
    size_t width = 0;
    for (int i = column; i < table->cell_count; i += table->columns)
        if (strlen(table->cells[i]) > width)
            width = strlen(table->cells[i]);
    return (int)width;
}

static void print_table(FILE *out, const report_page_part *table)
{
    print_wrapped(out, table->text);
    for (int i = 0; i < table->cell_count; i++) {
        int column = i % table->columns, width = column_width(table, column);
        bool is_last = column + 1 == table->columns;
        if (report_page_is_number_column(table, column))
            fprintf(out, "  %*s", width, table->cells[i]);
        else
            fprintf(out, "  %-*s", is_last ? 0 : width, table->cells[i]);
        if (is_last)
            fputc('\n', out);
    }
}

/* Charts are in the report only.  Their numbers are in the tables. */
void report_page_print(const report_page *p, FILE *out)
{
    const char *text;
    for (int i = 0; i < p->count; i++) {
        const report_page_part *part = &p->parts[i];
        if (part->kind == REPORT_PAGE_CHART || !part->text)
            continue;
        if (part->kind == REPORT_PAGE_TABLE)
            print_table(out, part);
        else
            print_wrapped(out, part->text);
        fputc('\n', out);
    }
    lab_verdict v = report_page_verdict_of(p, &text);
    fprintf(out, "Compared with the publication: %s.\n", lab_verdict_names[v]);
    print_wrapped(out, text);
}
