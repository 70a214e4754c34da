/* blur: loops over the tiles of an image (filch_for_tiles).  Each pixel becomes the mean of the
 * pixels around it. */
#include <filch/filch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: blur [-r RADIUS] IN OUT   RADIUS: 0 to 1000 pixels (4)\n"
    "       blur -m WIDTHxHEIGHT OUT  create a test image, up to 65535 pixels per side\n"
    "Images are PGM (P5) or PPM (P6) files with samples from 0 to 255.\n";

typedef struct picture {
    size_t width, height, channels;
    unsigned char *bytes; /* row-major */
} picture;

static _Noreturn void fail(const char *name, const char *why)
{
    fprintf(stderr, "blur: %s: %s\n", name, why);
    exit(1);
}

static _Noreturn void usage_error(const char *why)
{
    fprintf(stderr, "blur: %s; see blur -h\n", why);
    exit(2);
}

static picture picture_new(size_t width, size_t height, size_t channels)
{
    picture p = {width, height, channels, calloc(width * height, channels)};

    if (!p.bytes)
        fail("picture", "out of memory");
    return p;
}

/* Read a number of the header: skip white space and comments before it, require white space
 * after it. */
static size_t read_number(FILE *f, const char *name, size_t max)
{
    size_t n = 0;
    int c = getc(f);

    for (; strchr(" \t\r\n#", c) && c > 0; c = getc(f))
        if (c == '#')
            while (c != '\n' && c != EOF)
                c = getc(f);
    for (; c >= '0' && c <= '9' && n <= max; c = getc(f))
        n = n * 10 + (size_t)(c - '0');
    if (n == 0 || n > max || c <= 0 || !strchr(" \t\r\n", c))
        fail(name, "invalid number in the header");
    return n;
}

static picture picture_read(const char *name)
{
    FILE *f = fopen(name, "rb");

    if (!f)
        fail(name, "cannot open");
    int letter = getc(f), kind = getc(f);
    if (letter != 'P' || (kind != '5' && kind != '6'))
        fail(name, "not a PGM (P5) or PPM (P6) file");
    size_t width = read_number(f, name, 65535), height = read_number(f, name, 65535);
    if (read_number(f, name, 255) != 255)
        fail(name, "max sample is not 255");
    picture p = picture_new(width, height, kind == '6' ? 3 : 1);
    size_t size = width * height * p.channels;
    if (fread(p.bytes, 1, size, f) != size || getc(f) != EOF)
        fail(name, "size does not match the header");
    fclose(f);
    return p;
}

static void picture_write(const picture *p, const char *name)
{
    size_t size = p->width * p->height * p->channels;
    FILE *f = fopen(name, "wb");

    if (!f)
        fail(name, "cannot create");
    fprintf(f, "P%d\n%zu %zu\n255\n", p->channels == 3 ? 6 : 5, p->width, p->height);
    if (fwrite(p->bytes, 1, size, f) != size || fclose(f) != 0)
        fail(name, "cannot write");
}

static void paint_tile(const filch_tile *t, void *ctx)
{
    const picture *p = ctx;

    for (size_t y = t->row_lo; y < t->row_hi; y++)
        for (size_t x = t->column_lo; x < t->column_hi; x++) {
            unsigned char *at = &p->bytes[(y * p->width + x) * p->channels];
            at[0] = (unsigned char)(x * 255 / p->width);
            at[1] = (unsigned char)(y * 255 / p->height);
            at[2] = (x / 16 + y / 16) % 2 ? 255 : 0;
        }
}

/* A box filter is separable, so it runs in two passes: along the rows, then along the columns. */
typedef struct blur_pass {
    const picture *from, *to;
    size_t radius;
    size_t length, step; /* length of a line in pixels, and the distance of its pixels */
} blur_pass;

/* Mean of the pixels within `radius` of pixel `at` of the line.  Pixels outside the line do not
 * count. */
static unsigned char mean(const blur_pass *b, const unsigned char *line, size_t at)
{
    size_t lo = at > b->radius ? at - b->radius : 0;
    size_t hi = b->length - at > b->radius ? at + b->radius + 1 : b->length;
    size_t sum = 0, n = 0;

    do
        sum += line[(lo + n++) * b->step * b->from->channels];
    while (lo + n < hi);
    return (unsigned char)((sum + n / 2) / n);
}

static void blur_tile(const filch_tile *t, void *ctx)
{
    const blur_pass *b = ctx;
    size_t width = b->from->width, channels = b->from->channels;

    for (size_t y = t->row_lo; y < t->row_hi; y++)
        for (size_t x = t->column_lo; x < t->column_hi; x++)
            for (size_t c = 0; c < channels; c++) {
                size_t pixel = y * width + x, at = b->step == 1 ? x : y;
                const unsigned char *line = &b->from->bytes[(pixel - at * b->step) * channels + c];
                b->to->bytes[pixel * channels + c] = mean(b, line, at);
            }
}

static void blur(picture *p, size_t radius)
{
    picture scratch = picture_new(p->width, p->height, p->channels);
    filch_tile all = {0, p->height, 0, p->width};
    blur_pass across = {p, &scratch, radius, p->width, 1};
    blur_pass down = {&scratch, p, radius, p->height, p->width};

    filch_for_tiles(&all, 64, 64, blur_tile, &across);
    filch_for_tiles(&all, 64, 64, blur_tile, &down);
    free(scratch.bytes);
}

static picture make(unsigned width, unsigned height)
{
    picture p = picture_new(width, height, 3);
    filch_tile all = {0, height, 0, width};

    filch_for_tiles(&all, 0, 0, paint_tile, &p);
    return p;
}

static unsigned number(const char *text, unsigned min, unsigned max, const char *why)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end || n < min || n > max)
        usage_error(why);
    return (unsigned)n;
}

static picture make_sized(char *size)
{
    char *height = strchr(size, 'x');
    const char *why = "the size must have the form 640x480";

    if (!height)
        usage_error(why);
    *height++ = '\0';
    return make(number(size, 1, 65535, why), number(height, 1, 65535, why));
}

int main(int argc, char **argv)
{
    unsigned radius = 4;
    char *size = NULL;
    picture p;

    for (int option; (option = getopt(argc, argv, "hr:m:")) != -1;) {
        if (option == 'r')
            radius = number(optarg, 0, 1000, "the radius must be a number from 0 to 1000");
        else if (option == 'm')
            size = optarg;
        else if (option == 'h')
            return fputs(usage, stdout) < 0;
        else
            return 2;
    }
    if (argc - optind != (size ? 1 : 2))
        usage_error(size ? "expected one file" : "expected two files");
    if (size) {
        p = make_sized(size);
    } else {
        p = picture_read(argv[optind]);
        blur(&p, radius);
    }
    picture_write(&p, argv[argc - 1]);
    free(p.bytes);
    return 0;
}
