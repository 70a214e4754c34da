/* logger: merges the lines of several files into one log.  A fiber reads each file.  A strand owns
 * the log: its functions write lines and start new files without a lock, and never in the middle of
 * a line.  A ticker flushes the log. */
#include <filch/filch.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "usage: logger [-s BYTES] LOG FILE..\n"
                            "Appends the lines of the FILEs (files, pipes, - for standard input) "
                            "to LOG, each with the name\n"
                            "of its file.  When LOG has BYTES bytes (1000000), it is renamed to "
                            "LOG.1, LOG.2 and so on, and\n"
                            "a new one begins.\n";

/* ---- the log: used by functions of its strand only ---- */

typedef struct log_file {
    filch_strand strand;
    const char *name;
    FILE *file;
    size_t size, size_max;
    unsigned n_old;
    int failed;
} log_file;

typedef struct line {
    log_file *log;
    const char *source;
    size_t length;
    char text[];
} line;

static void log_open(log_file *l)
{
    l->file = fopen(l->name, "w");
    l->size = 0;
    if (!l->file) {
        fprintf(stderr, "logger: %s: %s\n", l->name, strerror(errno));
        l->failed = 1;
    }
}

static void log_rotate(log_file *l)
{
    char old[4096];

    fclose(l->file);
    snprintf(old, sizeof old, "%s.%u", l->name, ++l->n_old);
    if (rename(l->name, old) < 0)
        l->failed = 1;
    log_open(l);
}

static void write_line(void *arg)
{
    line *p = arg;
    log_file *l = p->log;
    int n = l->file ? fprintf(l->file, "%s: %.*s\n", p->source, (int)p->length, p->text) : -1;

    if (n < 0)
        l->failed = 1;
    else if ((l->size += (size_t)n) >= l->size_max)
        log_rotate(l);
    free(p);
}

static void flush_log(void *arg)
{
    log_file *l = arg;

    if (l->file && fflush(l->file) != 0)
        l->failed = 1;
}

/* The ticker's function.  It does not touch the file, which belongs to the strand. */
static void submit_flush(void *log)
{
    filch_strand_run(&((log_file *)log)->strand, flush_log, log);
}

/* ---- sources ---- */

typedef struct source {
    log_file *log;
    const char *name;
    char *rest; /* the beginning of a line */
    size_t n_rest;
} source;

static int submit_line(source *s, const char *text, size_t n)
{
    line *p = malloc(sizeof *p + s->n_rest + n);

    if (!p)
        return -ENOMEM;
    p->log = s->log;
    p->source = s->name;
    p->length = s->n_rest + n;
    if (s->n_rest > 0)
        memcpy(p->text, s->rest, s->n_rest);
    memcpy(p->text + s->n_rest, text, n);
    s->n_rest = 0;
    return filch_strand_run(&s->log->strand, write_line, p);
}

static int keep_rest(source *s, const char *text, size_t n)
{
    char *longer = realloc(s->rest, s->n_rest + n + 1);

    if (!longer)
        return -ENOMEM;
    memcpy(longer + s->n_rest, text, n);
    s->rest = longer;
    s->n_rest += n;
    return 0;
}

static int submit_lines(source *s, const char *text, size_t n)
{
    const char *end;
    int e = 0;

    while (e == 0 && (end = memchr(text, '\n', n)) != NULL) {
        e = submit_line(s, text, (size_t)(end - text));
        n -= (size_t)(end - text) + 1;
        text = end + 1;
    }
    return e == 0 ? keep_rest(s, text, n) : e;
}

/* After each part the source waits for the log, so that a fast source does not fill the memory. */
static int read_source(void *arg)
{
    source *s = arg;
    char part[16 << 10];
    int fd = strcmp(s->name, "-") == 0 ? STDIN_FILENO : open(s->name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -errno : 1;
    int e = 0;

    while (e == 0 && n > 0 && (n = filch_read(fd, part, sizeof part)) > 0) {
        e = submit_lines(s, part, (size_t)n);
        filch_strand_wait(&s->log->strand);
    }
    if (e == 0 && s->n_rest > 0)
        e = submit_line(s, "", 0);
    if (e == 0 && n < 0)
        e = (int)n;
    if (e < 0)
        fprintf(stderr, "logger: %s: %s\n", s->name, strerror(-e));
    if (fd >= 0)
        close(fd);
    free(s->rest);
    return e;
}

int main(int argc, char **argv)
{
    filch_group sources = FILCH_GROUP_INIT;
    filch_ticker ticker = FILCH_TICKER_INIT;
    log_file log = {.size_max = 1000000};
    source *s;
    int option, e;

    while ((option = getopt(argc, argv, "s:h")) != -1)
        if (option == 's' && strtoul(optarg, NULL, 10) > 0)
            log.size_max = strtoul(optarg, NULL, 10);
        else
            return fputs(usage, option == 'h' ? stdout : stderr), option == 'h' ? 0 : 2;
    if (argc - optind < 2 || !(s = calloc((size_t)argc, sizeof *s)))
        return fputs(usage, stderr), 2;
    log.name = argv[optind++];
    log_open(&log);
    e = filch_ticker_start(&ticker, filch_now() + FILCH_S(1), FILCH_S(1), submit_flush, &log);
    for (int i = optind; e == 0 && !log.failed && i < argc; i++) {
        s[i] = (source){.log = &log, .name = argv[i]};
        e = filch_group_run_fallible(&sources, read_source, &s[i]);
    }
    if (filch_group_wait(&sources) < 0)
        e = -EIO;
    filch_ticker_stop(&ticker);
    filch_strand_stop(&log.strand); /* all lines are written */
    if (log.file && fclose(log.file) != 0)
        log.failed = 1;
    free(s);
    return e < 0 || log.failed;
}
