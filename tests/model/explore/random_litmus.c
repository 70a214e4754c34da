/* The outcomes that the explorer finds for small programs given as text.  reference.py generates
 * the programs, computes the outcomes that the axioms of the memory models allow, and compares.
 *
 * One program per line: threads separated by |, operations by blanks, the parts of an operation by
 * colons.  L is one of the locations x, y, z, which start at 0; a value V is 0 to 99; without an
 * order the operation is relaxed.
 *
 *   load:L[:ORDER]                  relaxed, acquire
 *   store:L:V[:ORDER]               relaxed, release
 *   add:L:V[:ORDER]                 relaxed, acquire, release, acq_rel
 *   exchange:L:V[:ORDER]            the same
 *   cas:L:EXPECTED:V[:ORDER]        the same; a failure is a relaxed load
 *   fence:ORDER                     acquire, release, acq_rel, seq_cst
 *
 * The answer to a program is one line: its outcomes, sorted, separated by blanks.  The outcome
 *
 *   0,1|2;x=2,y=1
 *
 * says that the first thread read 0 and then 1, the second read 2, and what the locations hold when
 * all have ended.
 */
#include "explore/explore.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERATIONS = 8, CELLS = 3, MAX_VALUE = 99, MAX_VALUES = 2, OUTCOME_CHARS = 256 };

typedef enum kind { LOAD, STORE, ADD, EXCHANGE, CAS, FENCE, KINDS } kind;

typedef struct operation {
    kind kind;
    int cell;
    uint64_t value[MAX_VALUES];
    site site;
    uint64_t read;
} operation;

typedef struct program_thread {
    int operations;
    operation operation[MAX_OPERATIONS];
} program_thread;

static struct {
    int threads;
    program_thread thread[MAX_THREADS];
    bool uses[CELLS];
} program;

static unsigned long line_number;

/* ---- reading a program ---- */

#define CAN_BE(order) (1u << (order))
#define ANY_RMW                                                                                    \
    (CAN_BE(ORDER_RELAXED) | CAN_BE(ORDER_ACQUIRE) | CAN_BE(ORDER_RELEASE) | CAN_BE(ORDER_ACQ_REL))

static const struct {
    const char *name;
    int values;
    unsigned orders;
} forms[KINDS] = {
    [LOAD] = {"load", 0, CAN_BE(ORDER_RELAXED) | CAN_BE(ORDER_ACQUIRE)},
    [STORE] = {"store", 1, CAN_BE(ORDER_RELAXED) | CAN_BE(ORDER_RELEASE)},
    [ADD] = {"add", 1, ANY_RMW},
    [EXCHANGE] = {"exchange", 1, ANY_RMW},
    [CAS] = {"cas", 2, ANY_RMW},
    [FENCE] = {"fence", 0,
               CAN_BE(ORDER_ACQUIRE) | CAN_BE(ORDER_RELEASE) | CAN_BE(ORDER_ACQ_REL) |
                   CAN_BE(ORDER_SEQ_CST)},
};

static void syntax_error(const char *what, const char *which)
{
    fprintf(stderr, "random_litmus: line %lu: %s: '%s'\n", line_number, what, which);
    exit(2);
}

/* The next part of a word, or "" when there is none left. */
static const char *next_part(char **rest)
{
    const char *part = strsep(rest, ":");
    return part ? part : "";
}

static kind parse_kind(const char *text)
{
    kind k = LOAD;
    while (k < KINDS && strcmp(forms[k].name, text) != 0)
        k++;
    if (k == KINDS)
        syntax_error("no such operation", text);
    return k;
}

static int parse_cell(const char *text)
{
    if (text[0] < 'x' || text[0] >= 'x' + CELLS || text[1])
        syntax_error("not a location (x, y or z)", text);
    program.uses[text[0] - 'x'] = true;
    return text[0] - 'x';
}

static uint64_t parse_value(const char *text)
{
    char *end = NULL;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || value > MAX_VALUE)
        syntax_error("not a value (0 to 99)", text);
    return value;
}

static order parse_order(kind k, const char *text)
{
    for (order o = ORDER_NONE; o <= ORDER_SEQ_CST; o++)
        if ((forms[k].orders & CAN_BE(o)) && strcmp(order_name(o), text) == 0)
            return o;
    syntax_error(k == FENCE ? "a fence cannot have this order"
                            : "the operation cannot have this order",
                 text);
    return ORDER_NONE;
}

static operation parse_operation(char *word)
{
    char *rest = word;
    operation o = {.kind = parse_kind(next_part(&rest))};
    if (o.kind != FENCE)
        o.cell = parse_cell(next_part(&rest));
    for (int i = 0; i < forms[o.kind].values; i++)
        o.value[i] = parse_value(next_part(&rest));
    bool relaxed = !rest && o.kind != FENCE;
    order written = relaxed ? ORDER_RELAXED : parse_order(o.kind, next_part(&rest));
    if (rest)
        syntax_error("text after the order of an operation", rest);
    o.site = (site){"", "", written, written, 0, sizeof(uint64_t)};
    return o;
}

static void parse_thread(char *text)
{
    if (program.threads == MAX_THREADS)
        syntax_error("too many threads, at", text);
    program_thread *t = &program.thread[program.threads++];
    char *rest = NULL;
    for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        if (t->operations == MAX_OPERATIONS)
            syntax_error("too many operations in a thread, at", word);
        t->operation[t->operations++] = parse_operation(word);
    }
    if (t->operations == 0)
        syntax_error("a thread has no operation", text);
}

static void parse_program(char *line)
{
    memset(&program, 0, sizeof program);
    for (char *rest = line; rest;)
        parse_thread(strsep(&rest, "|"));
}

/* ---- the outcomes found ---- */

static struct {
    char (*text)[OUTCOME_CHARS];
    size_t used, room;
} found;

static void make_room(void)
{
    if (found.used < found.room)
        return;
    found.room = found.room ? 2 * found.room : 64;
    found.text = realloc(found.text, found.room * sizeof found.text[0]);
    if (!found.text) {
        fprintf(stderr, "random_litmus: out of memory\n");
        exit(1);
    }
}

static void add_outcome(const char *text)
{
    for (size_t i = 0; i < found.used; i++)
        if (strcmp(found.text[i], text) == 0)
            return;
    make_room();
    snprintf(found.text[found.used++], OUTCOME_CHARS, "%s", text);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void print_outcomes(void)
{
    if (found.used > 0)
        qsort(found.text, found.used, sizeof found.text[0], by_text);
    for (size_t i = 0; i < found.used; i++)
        printf("%s%s", i ? " " : "", found.text[i]);
    printf("\n");
}

/* ---- one execution ---- */

static uint64_t cells[CELLS]; /* only their addresses matter: the machine has the values */
static int ended;

static void setup(void)
{
    static const char names[][2] = {"x", "y", "z"};
    _Static_assert(sizeof names / sizeof names[0] >= CELLS, "every cell has a name");
    ended = 0;
    for (int i = 0; i < CELLS; i++)
        if (program.uses[i])
            x_init(&cells[i], 0, names[i]);
}

typedef struct text {
    char chars[OUTCOME_CHARS];
    size_t used;
} text;

__attribute__((format(printf, 2, 3))) static void append(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->chars + t->used, OUTCOME_CHARS - t->used, format, args);
    va_end(args);
    t->used += (size_t)n;
    if (t->used >= OUTCOME_CHARS)
        x_fail(LIMIT, "an outcome is too long to be written");
}

static void append_reads(text *to, const program_thread *t)
{
    const char *before = "";
    for (int i = 0; i < t->operations; i++) {
        const operation *o = &t->operation[i];
        if (o->kind == STORE || o->kind == FENCE)
            continue;
        append(to, "%s%llu", before, (unsigned long long)o->read);
        before = ",";
    }
}

static void append_cells(text *to)
{
    static site at_the_end = {"", "", ORDER_RELAXED, ORDER_RELAXED, 0, sizeof(uint64_t)};
    const char *before = ";";
    for (int i = 0; i < CELLS; i++) {
        if (!program.uses[i])
            continue;
        unsigned long long value = x_load(&cells[i], &at_the_end);
        append(to, "%s%c=%llu", before, 'x' + i, value);
        before = ",";
    }
}

static void record(void)
{
    text t = {.used = 0};
    for (int i = 0; i < program.threads; i++) {
        append(&t, "%s", i ? "|" : "");
        append_reads(&t, &program.thread[i]);
    }
    append_cells(&t);
    add_outcome(t.chars);
}

static uint64_t cas(operation *o)
{
    uint64_t expected = o->value[0];
    x_cas(&cells[o->cell], &expected, o->value[1], &o->site);
    return expected;
}

static void perform(operation *o)
{
    const void *p = &cells[o->cell];
    switch (o->kind) {
    case LOAD:
        o->read = x_load(p, &o->site);
        break;
    case STORE:
        x_store(p, o->value[0], &o->site);
        break;
    case ADD:
        o->read = x_fetch_add(p, o->value[0], &o->site);
        break;
    case EXCHANGE:
        o->read = x_exchange(p, o->value[0], &o->site);
        break;
    case CAS:
        o->read = cas(o);
        break;
    default:
        x_fence(&o->site);
        break;
    }
}

/* The last thread to end records the outcome.  A separate recorder that waits for all would have
 * seen nothing until then, so the explorer could never drop stores that no thread can read any
 * more, and that would not be tested. */
static void run(int thread)
{
    program_thread *t = &program.thread[thread];
    for (int i = 0; i < t->operations; i++)
        perform(&t->operation[i]);
    if (++ended == program.threads) {
        x_join();
        record();
    }
}

static const char *thread_name(int thread)
{
    static const char *const names[MAX_THREADS] = {"thread 1", "thread 2", "thread 3", "thread 4",
                                                   "thread 5"};
    return names[thread];
}

/* ---- all programs ---- */

/* If the explorer gives up a program, its line says so, and the next program follows. */
static bool answer(mode m)
{
    const check c = {.mode = m,
                     .threads = program.threads,
                     .setup = setup,
                     .run = run,
                     /* No summary: all that is remembered follows from what the threads have
                      * read, and the explorer itself must tell states apart by that. */
                     .thread_name = thread_name};
    found.used = 0;
    outcome o = explore(&c);
    bool good = o.verdict == OK && o.complete;
    if (good)
        print_outcomes();
    else
        printf("!%s:%s\n", verdict_name(o.verdict), o.complete ? o.reason : "incomplete");
    fflush(stdout);
    return good;
}

static mode parse_mode(int argc, char **argv)
{
    for (mode m = 0; m < MODES && argc == 2; m++)
        if (strcmp(argv[1], mode_name(m)) == 0)
            return m;
    fprintf(stderr, "usage: random_litmus rc11|imm|tso  < PROGRAMS, one per line\n");
    exit(2);
}

int main(int argc, char **argv)
{
    x_keep(&found, sizeof found);
    mode m = parse_mode(argc, argv);
    char *line = NULL;
    size_t room = 0;
    bool good = true;
    while (getline(&line, &room, stdin) >= 0) {
        line_number++;
        line[strcspn(line, "\n")] = '\0';
        parse_program(line);
        good &= answer(m);
    }
    free(line);
    free(found.text);
    if (ferror(stdin) || ferror(stdout)) {
        fprintf(stderr, "random_litmus: %s\n", strerror(errno));
        return 1;
    }
    return good ? 0 : 1;
}
