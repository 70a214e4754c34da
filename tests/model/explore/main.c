/* explore: check the lock-free parts exhaustively at small bounds, and show that the check can
 * fail. */
#include "explore/kind.h"

#include "base/biased_lock.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: explore [checks | mutants | all] [KIND]  every program, every mutant, both (default)\n"
    "       explore show LABEL[=ORDER] [MODE]      the trace of a mutant's first failure\n"
    "       explore try PROGRAM MODE [LABEL=ORDER...]\n"
    "       explore markdown                       the mutants as a table\n"
    "\n"
    "KIND     the name of a check: NAME_check.c, or of a deque: bounded, batch, half, locked\n"
    "PROGRAM  KIND:CAPACITY:K:OWNER:THIEF[,THIEF...]  as in bounded:2:0:PPO:SS,SS; K 0 = default\n"
    "         of a deque: owner P push, O pop; thief S steal; KIND_check.c has the letters of the "
    "others\n"
    "MODE     rc11, imm, tso, each with +races to look for data races too\n"
    "ORDER    none, plain, relaxed, acquire, release, acq_rel, rmw\n"
    "\n"
    "Exit status: 0 as expected, 1 not as expected, 2 for a usage error.\n";

static void usage_error(const char *what, const char *which)
{
    fprintf(stderr, "explore: %s: %s\n%s", what, which, help);
    exit(2);
}

static const char *program_text(const kind *k, const program *p)
{
    static char text[80];
    int n = snprintf(text, sizeof text, "%s:%u:%u:%s", k->name, p->capacity, p->batch, p->owner);
    for (int i = 0; i < MAX_THIEVES && p->thieves[i]; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%c%s", i ? ',' : ':', p->thieves[i]);
    return text;
}

static bool wants_races(const weakening *w)
{
    return w->label && strcmp(w->label, "items") == 0;
}

static const kind *kind_named(const char *name)
{
    const kind *const *k = kinds;
    while (*k && strcmp((*k)->name, name) != 0)
        k++;
    return *k;
}

static void prepare(check *c, const kind *k, const program *p, mode m, const weakening *weaken,
                    int n, bool races)
{
    kind_prepare(c, k, p);
    c->mode = m;
    c->races |= races;
    for (int i = 0; i < n; i++)
        c->weaken[i] = weaken[i];
}

/* ---- every program without a mutant must pass in every mode ---- */

static bool print_check(const kind *k, const program *p, mode m, bool races)
{
    check c;
    prepare(&c, k, p, m, NULL, 0, races);
    outcome o = explore(&c);
    bool good = o.verdict == OK && o.complete;
    printf("%-34s %-5s%-6s %-5s %10llu states %8.2f s%s\n", program_text(k, p), mode_name(m),
           races ? "+races" : "", verdict_name(o.verdict), (unsigned long long)o.states, o.seconds,
           o.complete ? "" : "  incomplete");
    fflush(stdout);
    if (o.verdict != OK)
        explore_print_trace(&c, stdout);
    return good;
}

static bool suits(const kind *k, mode m)
{
    return m != MODE_IMM || k->items;
}

typedef struct tally {
    int n, bad;
} tally;

static void count_check(tally *t, bool good)
{
    t->n++;
    t->bad += !good;
}

static void check_kind(const kind *k, tally *t)
{
    for (const program *p = k->programs; p->owner; p++)
        for (mode m = 0; m < MODES; m++)
            if (suits(k, m))
                count_check(t, print_check(k, p, m, false));
    for (const program *p = k->large_programs; p && p->owner; p++)
        count_check(t, print_check(k, p, MODE_TSO, false));
    /* Clocks multiply the states; two threads are enough to race. */
    for (const program *p = k->programs; p->owner && k->also_races; p++)
        if (!p->thieves[1])
            count_check(t, print_check(k, p, MODE_RC11, true));
}

static int check_programs(const kind *only)
{
    tally t = {0, 0};
    for (const kind *const *k = kinds; *k; k++)
        if (!only || *k == only)
            check_kind(*k, &t);
    printf("programs: %d passed, %d failed\n\n", t.n - t.bad, t.bad);
    return t.bad;
}

/* ---- every mutant must be caught where the table says so, and only there ---- */

/* In tso the order of a load, a store or a read-modify-write has an effect on clocks alone.  A
 * fence cannot be made relaxed.  So without clocks a mutant with relaxed orders is the unchanged
 * source, which `checks` explores. */
static bool is_as_written(const check *c)
{
    if (c->mode != MODE_TSO || c->races)
        return false;
    for (int i = 0; i < MAX_WEAKENINGS; i++)
        if (c->weaken[i].label && c->weaken[i].to != ORDER_RELAXED)
            return false;
    return true;
}

/* Programs of two threads are explored all the same, to confirm that. */
static const program *first_failing_of(const program *p, check *c, const kind *k, const mutant *x,
                                       mode m, outcome *o)
{
    for (; p && p->owner; p++) {
        prepare(c, k, p, m, x->weaken, 2, wants_races(&x->weaken[0]));
        if (p->thieves[1] && is_as_written(c))
            continue;
        *o = explore(c);
        if (o->verdict != OK || !o->complete)
            return p;
    }
    return NULL;
}

/* Large programs are explored only where one of them must fail. */
static const program *first_failing(check *c, const kind *k, const mutant *x, mode m, outcome *o)
{
    *o = (outcome){.complete = true};
    const program *p = first_failing_of(k->programs, c, k, x, m, o);
    if (p || x->expected[m] == OK)
        return p;
    return first_failing_of(k->large_programs, c, k, x, m, o);
}

static void print_weakening(const mutant *x)
{
    char text[80];
    int n = snprintf(text, sizeof text, "%s=%s", x->weaken[0].label, order_name(x->weaken[0].to));
    if (x->weaken[1].label)
        snprintf(text + n, sizeof text - (size_t)n, ",%s", order_name(x->weaken[1].to));
    printf("%-32s ", text);
}

static bool check_mutant(const kind *k, const mutant *x)
{
    bool good = true;
    print_weakening(x);
    for (mode m = 0; m < MODES; m++) {
        check c;
        outcome o;
        if (!suits(k, m)) {
            good &= x->expected[m] == x->expected[MODE_RC11];
            continue;
        }
        first_failing(&c, k, x, m, &o);
        bool as_expected = o.verdict == x->expected[m] && o.complete;
        printf(" %s %-6s%s", mode_name(m), verdict_name(o.verdict), as_expected ? "" : "(!)");
        good &= as_expected;
    }
    printf("  %s%s\n", x->what, x->why_kept ? " (kept all the same)" : "");
    fflush(stdout);
    return good;
}

static int check_mutants(const kind *only)
{
    tally t = {0, 0};
    for (const kind *const *k = kinds; *k; k++)
        for (const mutant *x = (*k)->mutants; x->what && (!only || *k == only); x++)
            count_check(&t, check_mutant(*k, x));
    printf("mutants: %d passed, %d failed\n", t.n - t.bad, t.bad);
    return t.bad;
}

/* ---- tables and traces ---- */

/* The verdicts are those of the table, which `mutants` has checked.  Only the smallest program is
 * searched for now. */
static void print_row(const kind *k, const mutant *x)
{
    mode m = MODE_RC11;
    while (m < MODES && x->expected[m] == OK)
        m++;
    check c;
    outcome o;
    const program *p = m < MODES ? first_failing(&c, k, x, m, &o) : NULL;
    printf("| `%s` → %s | %s: %s | %s | %s | %s | %s |\n", x->weaken[0].label,
           order_name(x->weaken[0].to), k->name, x->what, verdict_name(x->expected[MODE_RC11]),
           verdict_name(x->expected[MODE_IMM]), verdict_name(x->expected[MODE_TSO]),
           p ? program_text(k, p) : "none; see below");
}

static void print_markdown(void)
{
    printf("| weakened | that is | rc11 | imm | tso | smallest program that shows it |\n"
           "|---|---|---|---|---|---|\n");
    for (const kind *const *k = kinds; *k; k++)
        for (const mutant *x = (*k)->mutants; x->what; x++)
            print_row(*k, x);
}

static mode parse_mode(const char *text, bool *races)
{
    size_t n = strcspn(text, "+");
    *races = strcmp(text + n, "+races") == 0;
    for (mode m = 0; m < MODES; m++)
        if (strlen(mode_name(m)) == n && strncmp(text, mode_name(m), n) == 0 &&
            (*races || !text[n]))
            return m;
    usage_error("no such mode", text);
    return MODES;
}

static bool weakens(const mutant *x, const char *label)
{
    for (int i = 0; i < 2; i++)
        if (x->weaken[i].label && strcmp(x->weaken[i].label, label) == 0)
            return true;
    return false;
}

static bool is_label(const char *text)
{
    for (const kind *const *k = kinds; *k; k++)
        for (const mutant *x = (*k)->mutants; x->what; x++)
            if (weakens(x, text))
                return true;
    return false;
}

static weakening parse_weakening(char *text)
{
    char *sign = strchr(text, '=');
    if (!sign)
        usage_error("LABEL=ORDER expected", text);
    *sign = '\0';
    if (!is_label(text))
        usage_error("no such label", text);
    for (order o = ORDER_NONE; o < ORDER_SEQ_CST; o++)
        if (strcmp(sign + 1, order_name(o)) == 0)
            return (weakening){text, o};
    usage_error("no such order", sign + 1);
    return (weakening){NULL, ORDER_NONE};
}

/* Capacities and k: the explorer's arrays hold little more. */
static uint32_t small_number(const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*end || n > 8)
        usage_error("not a number from 0 to 8", text);
    return (uint32_t)n;
}

static bool only_of(const char *text, const char *letters)
{
    return *text && text[strspn(text, letters)] == '\0';
}

static program parse_program(char *text, const kind **of)
{
    const char *name = strtok(text, ":");
    char *capacity = strtok(NULL, ":"), *batch = strtok(NULL, ":");
    program p = {.owner = strtok(NULL, ":")};
    const kind *k = name ? kind_named(name) : NULL;
    if (!k)
        usage_error("no such kind", text);
    if (!p.owner || !only_of(p.owner, k->owner) || strlen(p.owner) > 8)
        usage_error("the owner must have one to eight operations of its kind", text);
    p.capacity = small_number(capacity);
    p.batch = small_number(batch);
    int n = 0;
    for (char *thief; (thief = strtok(NULL, ",")); p.thieves[n++] = thief)
        if (n == MAX_THIEVES || !only_of(thief, k->thief))
            usage_error("there may be three thieves, each with operations of its kind", thief);
    *of = k;
    return p;
}

static int show_outcome(const check *c, const kind *k, const program *p, const outcome *o)
{
    printf("%s, %s: %s%s%s (%llu states, %llu executions)\n", program_text(k, p),
           mode_name(c->mode), verdict_name(o->verdict), o->verdict == OK ? "" : ": ", o->reason,
           (unsigned long long)o->states, (unsigned long long)o->executions);
    if (!o->complete)
        printf("incomplete: some executions were too long to be followed to their end\n");
    if (o->verdict != OK)
        explore_print_trace(c, stdout);
    return o->verdict != OK || !o->complete;
}

static int try_program(int argc, char **argv)
{
    if (argc < 2 || argc > 2 + MAX_WEAKENINGS)
        usage_error("wrong number of arguments", "try");
    const kind *k;
    program p = parse_program(argv[0], &k);
    bool races;
    mode m = parse_mode(argv[1], &races);
    weakening w[MAX_WEAKENINGS] = {{0}};
    for (int i = 2; i < argc; i++)
        w[i - 2] = parse_weakening(argv[i]);
    check c;
    prepare(&c, k, &p, m, w, argc - 2, races);
    outcome o = explore(&c);
    return show_outcome(&c, k, &p, &o);
}

static bool names_mutant(const mutant *x, const char *text)
{
    size_t n = strcspn(text, "=");
    return strlen(x->weaken[0].label) == n && strncmp(x->weaken[0].label, text, n) == 0 &&
           (!text[n] || strcmp(text + n + 1, order_name(x->weaken[0].to)) == 0);
}

static const mutant *mutant_named(const char *text, const kind **of)
{
    for (const kind *const *k = kinds; *k; k++)
        for (const mutant *x = (*k)->mutants; x->what; x++)
            if (names_mutant(x, text)) {
                *of = *k;
                return x;
            }
    usage_error("no such mutant", text);
    return NULL;
}

static int show_mutant(int argc, char **argv)
{
    if (argc < 1 || argc > 2)
        usage_error("wrong number of arguments", "show");
    bool races;
    mode only = argc == 2 ? parse_mode(argv[1], &races) : MODES;
    const kind *k;
    const mutant *x = mutant_named(argv[0], &k);
    for (mode m = 0; m < MODES; m++) {
        check c;
        outcome o;
        const program *p = NULL;
        if ((only == MODES || only == m) && (p = first_failing(&c, k, x, m, &o))) {
            printf("%s: %s\n", k->name, x->what);
            show_outcome(&c, k, p, &o);
            return 0;
        }
    }
    printf("%s: %s: no program shows a fault%s%s\n", k->name, x->what, x->why_kept ? ". " : "",
           x->why_kept ? x->why_kept : "");
    return 0;
}

int main(int argc, char **argv)
{
    /* Large and never written: the machine has the values. */
    x_keep(fi_lock_owners, sizeof fi_lock_owners);
    const char *command = argc > 1 ? argv[1] : "all";
    if (strcmp(command, "help") == 0 || strcmp(command, "--help") == 0 ||
        strcmp(command, "-h") == 0)
        return fputs(help, stdout) < 0;
    if (strcmp(command, "show") == 0)
        return show_mutant(argc - 2, argv + 2);
    if (strcmp(command, "try") == 0)
        return try_program(argc - 2, argv + 2);
    const kind *only = argc > 2 ? kind_named(argv[2]) : NULL;
    if (argc > 3 || (argc > 2 && !only))
        usage_error("no such kind", argv[argc - 1]);
    if (strcmp(command, "checks") == 0)
        return check_programs(only) > 0;
    if (strcmp(command, "mutants") == 0)
        return check_mutants(only) > 0;
    if (strcmp(command, "markdown") == 0 && !only)
        return print_markdown(), 0;
    if (strcmp(command, "all") != 0)
        usage_error("no such command", command);
    return (check_programs(only) + check_mutants(only)) > 0;
}
