/* Messages from a signal handler, which may not use stdio.  A message is one write, so that the
 * lines of several threads do not mix. */
#include "stack/report.h"

#include <string.h>
#include <unistd.h>

#define NAME_MAX_SHOWN 64

struct line {
    char text[256];
    size_t n;
};

static void add(struct line *l, const char *s, size_t limit)
{
    while (*s && limit-- > 0 && l->n < sizeof l->text)
        l->text[l->n++] = *s++;
}

static void add_text(struct line *l, const char *s)
{
    add(l, s, sizeof l->text);
}

static void add_number(struct line *l, size_t v)
{
    char digits[24];
    size_t i = sizeof digits;

    digits[--i] = '\0';
    do {
        digits[--i] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    add_text(l, digits + i);
}

static void add_fiber(struct line *l, const char *name)
{
    if (name && *name) {
        add_text(l, "fiber \"");
        add(l, name, NAME_MAX_SHOWN);
        add_text(l, "\"");
    } else {
        add_text(l, "a fiber without a name");
    }
}

static void write_line(const struct line *l)
{
    ssize_t done = write(STDERR_FILENO, l->text, l->n);
    (void)done; /* there is no other way to report it */
}

void fi_stack_report_overflow(const char *name, size_t size)
{
    struct line l = {.n = 0};

    add_text(&l, "filch: stack overflow in ");
    add_fiber(&l, name);
    add_text(&l, " (stack of ");
    add_number(&l, size);
    add_text(&l, " bytes); raise stack_size\n");
    write_line(&l);
}

void fi_stack_report_unmapped_code(const char *name)
{
    struct line l = {.n = 0};

    add_text(&l, "filch: ");
    add_fiber(&l, name);
    add_text(&l, " runs code that is not in memory; if its library was closed, stop the runtime "
                 "before dlclose "
                 "or link the library with -z nodelete\n");
    write_line(&l);
}
