/* sortfile: sorts the lines of a file (filch_sort with a comparison function), like sort(1) with
 * LC_ALL=C. */
#include <filch/filch.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "usage: sortfile [-n] [-r] [-o OUT] [FILE]\n"
                            "  -n      compare the numbers at the start of the lines\n"
                            "  -r      reverse the order\n"
                            "  -o OUT  write to OUT, which may be FILE\n"
                            "Without FILE, or if FILE is -, reads standard input.\n";

typedef struct line {
    const char *text;
    size_t length;
} line;

typedef struct order {
    bool by_number, reverse;
} order;

static _Noreturn void fail(const char *name, const char *why)
{
    fprintf(stderr, "sortfile: %s: %s\n", name, why);
    exit(1);
}

static void *grow(void *memory, size_t bytes)
{
    memory = realloc(memory, bytes);
    if (!memory)
        fail("lines", "out of memory");
    return memory;
}

static int compare_bytes(const line *a, const line *b)
{
    size_t common = a->length < b->length ? a->length : b->length;
    int c = memcmp(a->text, b->text, common);

    return c != 0 ? c : (a->length > b->length) - (a->length < b->length);
}

/* ---- numbers of any length: a sign, digits, optionally a point and more digits; else 0 ---- */

typedef struct number {
    const char *whole, *fraction;
    size_t whole_n, fraction_n; /* number of digits, without leading or trailing zeros */
    bool negative;
} number;

static size_t digits(const char *at, const char *end)
{
    size_t n = 0;

    while (at + n < end && at[n] >= '0' && at[n] <= '9')
        n++;
    return n;
}

static number number_of(const line *l)
{
    const char *at = l->text, *end = l->text + l->length;
    number n = {0};

    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    n.negative = at < end && *at == '-';
    at += n.negative;
    while (at < end && *at == '0')
        at++;
    n.whole = at;
    n.whole_n = digits(at, end);
    at += n.whole_n;
    n.fraction = at < end && *at == '.' ? at + 1 : at;
    n.fraction_n = n.fraction > at ? digits(n.fraction, end) : 0;
    while (n.fraction_n > 0 && n.fraction[n.fraction_n - 1] == '0')
        n.fraction_n--;
    return n;
}

static int compare_sizes(const number *a, const number *b)
{
    line whole_a = {a->whole, a->whole_n}, whole_b = {b->whole, b->whole_n};
    line rest_a = {a->fraction, a->fraction_n}, rest_b = {b->fraction, b->fraction_n};
    int c = (a->whole_n > b->whole_n) - (a->whole_n < b->whole_n);

    if (c == 0)
        c = compare_bytes(&whole_a, &whole_b);
    return c != 0 ? c : compare_bytes(&rest_a, &rest_b);
}

static bool is_zero(const number *n)
{
    return n->whole_n == 0 && n->fraction_n == 0;
}

static int compare_numbers(const line *a, const line *b)
{
    number x = number_of(a), y = number_of(b);
    bool down = x.negative && !is_zero(&x);

    if (down != (y.negative && !is_zero(&y)))
        return down ? -1 : 1;
    return down ? compare_sizes(&y, &x) : compare_sizes(&x, &y);
}

/* Lines with equal numbers are ordered by their bytes. */
static int compare(const void *a, const void *b, void *ctx)
{
    const order *o = ctx;
    int c = o->by_number ? compare_numbers(a, b) : 0;

    if (c == 0)
        c = compare_bytes(a, b);
    return o->reverse ? (c < 0) - (c > 0) : c;
}

/* ---- files ---- */

static char *read_all(const char *name, size_t *size)
{
    FILE *f = strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
    size_t capacity = 1 << 16, got;
    char *text;

    if (!f)
        fail(name, "cannot open");
    text = grow(NULL, capacity);
    *size = 0;
    while ((got = fread(text + *size, 1, capacity - *size, f)) > 0) {
        *size += got;
        if (*size == capacity)
            text = grow(text, capacity *= 2);
    }
    if (ferror(f) || (f != stdin && fclose(f) != 0)) {
        free(text);
        fail(name, "cannot read");
    }
    return text;
}

static line *cut(const char *text, size_t size, size_t *n)
{
    size_t capacity = 1024;
    line *lines = grow(NULL, capacity * sizeof *lines);

    *n = 0;
    for (const char *at = text, *end = text + size; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            stop = end;
        if (*n == capacity)
            lines = grow(lines, (capacity *= 2) * sizeof *lines);
        lines[(*n)++] = (line){at, (size_t)(stop - at)};
        at = stop + 1;
    }
    return lines;
}

static void write_all(const char *name, const line *lines, size_t n)
{
    FILE *f = name ? fopen(name, "wb") : stdout;
    bool written = f != NULL;

    for (size_t i = 0; i < n && written; i++)
        written =
            fwrite(lines[i].text, 1, lines[i].length, f) == lines[i].length && putc('\n', f) != EOF;
    if (!written || fclose(f) != 0)
        fail(name ? name : "output", "cannot write");
}

int main(int argc, char **argv)
{
    static char *text; /* static, so that leak checkers find them when fail() exits */
    static line *lines;
    order o = {false, false};
    const char *out = NULL;
    size_t size, n;

    for (int option; (option = getopt(argc, argv, "hnro:")) != -1;) {
        if (option == 'h')
            return fputs(usage, stdout) < 0;
        if (option == '?')
            return 2;
        o.by_number |= option == 'n';
        o.reverse |= option == 'r';
        out = option == 'o' ? optarg : out;
    }
    if (argc - optind > 1) {
        fprintf(stderr, "sortfile: %s: too many files; see sortfile -h\n", argv[optind + 1]);
        return 2;
    }
    text = read_all(optind < argc ? argv[optind] : "-", &size);
    lines = cut(text, size, &n);
    if (filch_sort(lines, n, sizeof *lines, compare, &o) < 0)
        fail("lines", "cannot sort");
    write_all(out, lines, n);
    free(lines);
    free(text);
    return 0;
}
