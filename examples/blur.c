/* Blurs a picture, tile by tile: each pixel becomes the mean of those around it. */
#include <filch/filch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: blur [-r RADIUS] IN OUT   RADIUS is 0 to 1000 pixels in each direction (4)\n"
    "       blur -m WIDTHxHEIGHT OUT  make a picture to try it on, of up to 65535 a side\n"
    "Pictures are PGM (P5) or PPM (P6) files with samples of 0 to 255.\n";

typedef struct picture {
    size_t width, height, channels;
    unsigned char *bytes; /* row by row */
} picture;

static _Noreturn void fail(const char *name, const char *why)
{
    fprintf(stderr, "blur: %s: %s\n", name, why);
    exit(1);
}

static _Noreturn void misused(const char *why)
{
    fprintf(stderr, "blur: %s; blur -h says more\n", why);
    exit(2);
}

static picture picture_new(size_t width, size_t height, size_t channels)
{
    picture p = {width, height, channels, calloc(width * height, channels)};

    if (!p.bytes)
        fail("picture", "no memory for it");
    return p;
}

/* A number of a header: after white space and comments, and with white space behind it. */
static size_t read_number(FILE *f, const char *name, size_t most)
{
    size_t n = 0;
    int c = getc(f);

    for (; strchr(" \t\r\n#", c) && c > 0; c = getc(f))
        if (c == '#')
            while (c != '\n' && c != EOF)
                c = getc(f);
    for (; c >= '0' && c <= '9' && n <= most; c = getc(f))
        n = n * 10 + (size_t)(c - '0');
    if (n == 0 || n > most || c <= 0 || !strchr(" \t\r\n", c))
        fail(name, "there is a wrong number in its header");
    return n;
}

static picture picture_read(const char *name)
{
    FILE *f = fopen(name, "rb");

    if (!f)
        fail(name, "cannot be opened");
    int letter = getc(f), kind = getc(f);
    if (letter != 'P' || (kind != '5' && kind != '6'))
        fail(name, "is neither a PGM (P5) nor a PPM (P6) file");
    size_t width = read_number(f, name, 65535), height = read_number(f, name, 65535);
    if (read_number(f, name, 255) != 255)
        fail(name, "has samples that do not go up to 255");
    picture p = picture_new(width, height, kind == '6' ? 3 : 1);
    size_t size = width * height * p.channels;
    if (fread(p.bytes, 1, size, f) != size || getc(f) != EOF)
        fail(name, "is not as long as its header says");
    fclose(f);
    return p;
}

static void picture_write(const picture *p, const char *name)
{
    size_t size = p->width * p->height * p->channels;
    FILE *f = fopen(name, "wb");

    if (!f)
        fail(name, "cannot be made");
    fprintf(f, "P%d\n%zu %zu\n255\n", p->channels == 3 ? 6 : 5, p->width, p->height);
    if (fwrite(p->bytes, 1, size, f) != size || fclose(f) != 0)
        fail(name, "cannot be written");
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

/* A square of means is a column of rows of means, so we go over the picture twice. */
typedef struct blurring {
    const picture *from, *to;
    size_t radius;
    size_t length, step; /* of the lines that we go along, in pixels and from one to the next */
} blurring;

/* The mean of the pixels around number `at` of a line, as far as they are in it. */
static unsigned char mean(const blurring *b, const unsigned char *line, size_t at)
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
    const blurring *b = ctx;
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
    picture between = picture_new(p->width, p->height, p->channels);
    filch_tile all = {0, p->height, 0, p->width};
    blurring across = {p, &between, radius, p->width, 1};
    blurring down = {&between, p, radius, p->height, p->width};

    filch_for_tiles(&all, 64, 64, blur_tile, &across);
    filch_for_tiles(&all, 64, 64, blur_tile, &down);
    free(between.bytes);
}

static picture make(unsigned width, unsigned height)
{
    picture p = picture_new(width, height, 3);
    filch_tile all = {0, height, 0, width};

    filch_for_tiles(&all, 0, 0, paint_tile, &p);
    return p;
}

static unsigned number(const char *word, unsigned least, unsigned most, const char *why)
{
    char *end;
    unsigned long n = strtoul(word, &end, 10);

    if (*word < '0' || *word > '9' || *end || n < least || n > most)
        misused(why);
    return (unsigned)n;
}

static picture make_sized(char *size)
{
    char *height = strchr(size, 'x');
    const char *why = "the size is not one such as 640x480";

    if (!height)
        misused(why);
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
            radius = number(optarg, 0, 1000, "the radius is no number from 0 to 1000");
        else if (option == 'm')
            size = optarg;
        else if (option == 'h')
            return fputs(usage, stdout) < 0;
        else
            return 2;
    }
    if (argc - optind != (size ? 1 : 2))
        misused(size ? "one file is made" : "one file is read and one is made");
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
