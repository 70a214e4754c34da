/* wordcount: counts the words of files in a pipeline (filch_pipeline): a serial stage reads, a
 * parallel stage counts, a serial stage merges. */
#include <filch/filch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: wordcount [-n COUNT] [FILE..]\n"
    "Prints the COUNT most frequent words (10) and their counts.\n"
    "A word consists of the letters A to Z, in upper or lower case.  Without FILE, or if FILE\n"
    "is -, reads standard input.\n";

#define PART (256 << 10) /* bytes read at a time, extended to the end of the last word */

typedef struct entry {
    char *word;
    size_t length, count;
} entry;

typedef struct table {
    entry *entries; /* capacity is a power of two; at most half is used */
    size_t capacity, used;
} table;

typedef struct part {
    char *text;
    size_t size, capacity;
    table words; /* words point into the text */
} part;

typedef struct reader {
    char **names; /* files still to read, NULL-terminated */
    FILE *file;
    int failed;
} reader;

static void *check_memory(void *memory)
{
    if (memory)
        return memory;
    fputs("wordcount: out of memory\n", stderr);
    exit(1);
}

/* ---- tables ---- */

static entry *find(const table *t, const char *word, size_t length)
{
    size_t at = 14695981039346656037u;

    for (size_t i = 0; i < length; i++)
        at = (at ^ (unsigned char)word[i]) * 1099511628211u;
    for (at ^= at >> 29;; at++) {
        entry *e = &t->entries[at & (t->capacity - 1)];
        if (!e->word || (e->length == length && memcmp(e->word, word, length) == 0))
            return e;
    }
}

static void grow(table *t)
{
    table larger = {.capacity = t->capacity > 0 ? 2 * t->capacity : 1024, .used = t->used};

    larger.entries = check_memory(calloc(larger.capacity, sizeof *larger.entries));
    for (size_t i = 0; i < t->capacity; i++)
        if (t->entries[i].word)
            *find(&larger, t->entries[i].word, t->entries[i].length) = t->entries[i];
    free(t->entries);
    *t = larger;
}

/* Find or add the entry of a word.  A new entry has count 0 and points to the given word. */
static entry *get(table *t, char *word, size_t length)
{
    if (2 * (t->used + 1) > t->capacity)
        grow(t);
    entry *e = find(t, word, length);
    if (!e->word) {
        *e = (entry){word, length, 0};
        t->used++;
    }
    return e;
}

/* ---- stages ---- */

static int is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void read_to_end_of_word(part *p, FILE *f)
{
    int c;

    while (p->size > 0 && is_letter(p->text[p->size - 1]) && (c = getc(f)) != EOF) {
        if (p->size == p->capacity)
            p->text = check_memory(realloc(p->text, p->capacity *= 2));
        p->text[p->size++] = (char)c;
    }
}

static void open_next(reader *r)
{
    const char *name = *r->names++;

    r->file = strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
    if (!r->file)
        fprintf(stderr, "wordcount: %s: cannot open\n", name);
    r->failed |= !r->file;
}

static void close_file(reader *r)
{
    if (ferror(r->file)) {
        fprintf(stderr, "wordcount: %s: cannot read\n", r->names[-1]);
        r->failed = 1;
    }
    if (r->file != stdin)
        fclose(r->file);
    r->file = NULL;
}

static void *read_part(void *nothing, void *ctx)
{
    reader *r = ctx;
    part *p = check_memory(calloc(1, sizeof *p));

    (void)nothing;
    p->capacity = PART;
    p->text = check_memory(malloc(p->capacity));
    while (p->size == 0 && (r->file || *r->names)) {
        if (!r->file)
            open_next(r);
        if (r->file && (p->size = fread(p->text, 1, PART, r->file)) == 0)
            close_file(r);
    }
    if (p->size > 0) {
        read_to_end_of_word(p, r->file);
        return p;
    }
    free(p->text);
    free(p);
    return NULL;
}

static void *count_part(void *item, void *ctx)
{
    part *p = item;
    size_t i = 0;

    (void)ctx;
    while (i < p->size) {
        size_t first = i;
        for (; i < p->size && is_letter(p->text[i]); i++)
            p->text[i] = (char)(p->text[i] | 0x20); /* to lower case */
        if (i > first)
            get(&p->words, p->text + first, i - first)->count++;
        else
            i++;
    }
    return p;
}

static void *add_part(void *item, void *ctx)
{
    part *p = item;
    table *all = ctx;

    for (size_t i = 0; i < p->words.capacity; i++) {
        entry *e = &p->words.entries[i];
        if (!e->word)
            continue;
        entry *sum = get(all, e->word, e->length);
        if (sum->count == 0)
            sum->word = memcpy(check_memory(malloc(e->length)), e->word, e->length);
        sum->count += e->count;
    }
    free(p->words.entries);
    free(p->text);
    free(p);
    return NULL;
}

/* ---- result ---- */

/* Most frequent first, then alphabetically.  Free entries come last. */
static int compare(const void *a, const void *b, void *ctx)
{
    const entry *x = a, *y = b;
    size_t common = x->length < y->length ? x->length : y->length;

    (void)ctx;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    int c = x->count > 0 ? memcmp(x->word, y->word, common) : 0;
    return c != 0 ? c : (x->length > y->length) - (x->length < y->length);
}

static void show(table *t, size_t most)
{
    filch_sort(t->entries, t->capacity, sizeof *t->entries, compare, NULL);
    for (size_t i = 0; i < t->used && i < most; i++)
        printf("%7zu %.*s\n", t->entries[i].count, (int)t->entries[i].length, t->entries[i].word);
    for (size_t i = 0; i < t->used; i++)
        free(t->entries[i].word);
    free(t->entries);
}

int main(int argc, char **argv)
{
    char *from_input[] = {"-", NULL}, *end = "";
    unsigned long most = 10;
    table all = {0};

    for (int option; (option = getopt(argc, argv, "hn:")) != -1;) {
        if (option == 'h')
            return fputs(usage, stdout) < 0;
        if (option == '?')
            return 2;
        most = strtoul(optarg, &end, 10);
        if (*optarg < '0' || *optarg > '9' || *end) {
            fprintf(stderr, "wordcount: '%s' is not a number of words\n", optarg);
            return 2;
        }
    }
    reader r = {.names = optind < argc ? argv + optind : from_input};
    const filch_stage stages[] = {{FILCH_STAGE_SERIAL, read_part, &r},
                                  {FILCH_STAGE_PARALLEL, count_part, NULL},
                                  {FILCH_STAGE_SERIAL, add_part, &all}};
    if (filch_pipeline(stages, 3, 0) < 0)
        check_memory(NULL);
    show(&all, most);
    return fflush(stdout) != 0 || r.failed;
}
