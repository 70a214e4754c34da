/* Cost of one context switch, one way: Filch, Boost.Context's jump_fcontext and the C library's
 * swapcontext.  The rounds are interleaved, so a change of the clock speed affects all alike.
 *
 *   pair  two contexts switch to each other: the best case for branch prediction
 *   ring  64 contexts in a ring: each switch goes to a different stack
 *
 * ctx_bench [--json] [ROUNDS]
 */
#include "ctx/ctx.h"

#include "parts/args.h"

#include <time.h>
#include <ucontext.h>

#define RING       64
#define STACK_SIZE 16384
#define SWITCHES   200000
#define ROUNDS     101
#define ROUNDS_MAX 1000

static _Alignas(64) char stacks[RING][STACK_SIZE];
static int members; /* number of contexts in the ring, including the thread's own */

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* start creates the contexts; laps goes around the ring n times.  Only the thread's own context
 * counts the laps, so that the counting hardly adds to the measured time. */
struct implementation {
    const char *name;
    void (*start)(void);
    void (*laps)(long n);
};

/* --- Filch --- */
static fi_ctx ours[RING];

static void ours_entry(void *arg)
{
    fi_ctx *me = arg, *next = &ours[(me - ours + 1) % members];

    for (;;)
        fi_ctx_switch(me, next);
}

static void ours_start(void)
{
    fi_ctx_init_thread(&ours[0]);
    for (int i = 1; i < members; i++)
        fi_ctx_make(&ours[i], stacks[i], STACK_SIZE, ours_entry, &ours[i]);
}

static void ours_laps(long n)
{
    while (n-- > 0)
        fi_ctx_switch(&ours[0], &ours[1]);
}

/* --- the C library --- */
static ucontext_t libc[RING];

static void libc_entry(int me)
{
    for (;;)
        swapcontext(&libc[me], &libc[(me + 1) % members]);
}

static void libc_make(int i)
{
    getcontext(&libc[i]);
    libc[i].uc_stack.ss_sp = stacks[i];
    libc[i].uc_stack.ss_size = STACK_SIZE;
    makecontext(&libc[i], (void (*)(void))libc_entry, 1, i);
}

static void libc_start(void)
{
    for (int i = 1; i < members; i++)
        libc_make(i);
}

static void libc_laps(long n)
{
    while (n-- > 0)
        swapcontext(&libc[0], &libc[1]);
}

/* --- Boost.Context, by its C interface --- */
#ifdef HAVE_BOOST_CONTEXT
typedef struct {
    void *from, *data;
} transfer;

transfer jump_fcontext(void *to, void *data);
void *make_fcontext(void *stack_top, size_t size, void (*entry)(transfer));

static void *boost[RING];

/* A jump passes the suspended predecessor (from) to its target; data is the predecessor's slot. */
static void boost_entry(transfer t)
{
    long me = ((void **)t.data - boost + 1) % members, next = (me + 1) % members;

    for (;;) {
        *(void **)t.data = t.from;
        t = jump_fcontext(boost[next], &boost[me]);
    }
}

static void boost_start(void)
{
    for (int i = 1; i < members; i++)
        boost[i] = make_fcontext(stacks[i] + STACK_SIZE, STACK_SIZE, boost_entry);
}

static void boost_laps(long n)
{
    while (n-- > 0) {
        transfer t = jump_fcontext(boost[1], &boost[0]);
        *(void **)t.data = t.from;
    }
}
#endif

static const struct implementation implementations[] = {
    {"filch", ours_start, ours_laps},
#ifdef HAVE_BOOST_CONTEXT
    {"boost", boost_start, boost_laps},
#endif
    {"ucontext", libc_start, libc_laps},
};

#define IMPLEMENTATIONS ((int)(sizeof implementations / sizeof implementations[0]))

static double samples[IMPLEMENTATIONS][ROUNDS_MAX];

/* ucontext is a hundred times slower, so it does fewer switches. */
static void one_round(int c, int round)
{
    long switches = strcmp(implementations[c].name, "ucontext") == 0 ? SWITCHES / 50 : SWITCHES;
    long laps = switches / members;

    implementations[c].start();
    implementations[c].laps(4); /* enters each context and warms its stack */
    double begin = now_ns();
    implementations[c].laps(laps);
    samples[c][round] = (now_ns() - begin) / (double)(laps * members);
#if FI_CTX_SANITIZED
    for (int i = 1; c == 0 && i < members; i++)
        fi_ctx_fini(&ours[i]);
#endif
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of Boost's samples, which are sorted; 0 where there are none. */
static double boost_median(int rounds)
{
    for (int c = 0; c < IMPLEMENTATIONS; c++)
        if (strcmp(implementations[c].name, "boost") == 0)
            return samples[c][rounds / 2];
    return 0;
}

/* A missing ratio is null in JSON and a dash in the table. */
static const char *ratio_text(double ns, double to, const char *none, char text[16])
{
    snprintf(text, 16, "%.3f", to > 0 ? ns / to : 0);
    return to > 0 ? text : none;
}

static void report(const char *shape, int rounds, bool json)
{
    char text[16];

    for (int c = 0; c < IMPLEMENTATIONS; c++)
        qsort(samples[c], (size_t)rounds, sizeof samples[c][0], by_value);
    for (int c = 0; c < IMPLEMENTATIONS; c++) {
        double best = samples[c][0], median = samples[c][rounds / 2];
        const char *ratio = ratio_text(median, boost_median(rounds), json ? "null" : "-", text);

        if (json)
            printf("{\"bench\":\"ctx\",\"shape\":\"%s\",\"implementation\":\"%s\",\"rounds\":%d,"
                   "\"best_ns\":%.3f,\"median_ns\":%.3f,\"ratio_to_boost\":%s}\n",
                   shape, implementations[c].name, rounds, best, median, ratio);
        else
            printf("%-6s %-10s %9.2f %9.2f %11s\n", shape, implementations[c].name, best, median,
                   ratio);
    }
}

static void run(const char *shape, int n, int rounds, bool json)
{
    members = n;
    for (int round = 0; round < rounds; round++)
        for (int c = 0; c < IMPLEMENTATIONS; c++)
            one_round(c, round);
    report(shape, rounds, json);
}

static const char help[] = "[--json] [ROUNDS]\n"
                           "Measure one context switch of Filch, Boost.Context and the C library.\n"
                           "ROUNDS: 1 to 1000 (101).  --json: print one JSON line per row.\n";

int main(int argc, char **argv)
{
    args a = {.program = "ctx_bench",
              .help = help,
              .number = {{1, ROUNDS_MAX, "not a number of rounds from 1 to 1000", ROUNDS}}};
    args_parse(&a, argv + (argc > 0));
    int rounds = (int)a.number[0].value;

#ifndef HAVE_BOOST_CONTEXT
    fprintf(stderr, "ctx_bench: built without Boost.Context; its rows are left out\n");
#endif
    if (!a.json)
        printf("%-6s %-10s %9s %9s %11s   (ns one way, %d rounds)\n", "shape", "by", "best",
               "median", "/ boost", rounds);
    run("pair", 2, rounds, a.json);
    run("ring", RING, rounds, a.json);
    return 0;
}
