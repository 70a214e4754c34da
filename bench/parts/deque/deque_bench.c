/* What a deque costs: push + pop by its owner while 0, 1 or 3 thieves are at it, and a steal.
 *
 * All kinds are measured in turns, many rounds, so that noise hits all alike; a figure is the best
 * and the median of the rounds, and its ratio to a plain array in the same round (the median of
 * these).
 */
#include "base/clock.h"
#include "plain.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 5, MAX_ROUNDS = 101, CAPACITY = 1 << 12, RUN = 64, MAX_OUT = 64, MAX_THIEVES = 3 };

static const fi_deque_kind *const kinds[KINDS] = {&plain_stack, &fi_deque_locked, &fi_deque_bounded,
                                                  &fi_deque_batch, &fi_deque_half};

typedef struct thieves {
    fi_deque *deque;
    atomic_bool stop;
    atomic_int ready;
    atomic_ulong stolen;
    int n;
    pthread_t thread[MAX_THIEVES];
} thieves;

static void *thief_main(void *arg)
{
    thieves *t = arg;
    void *out[MAX_OUT];
    unsigned long stolen = 0;
    atomic_fetch_add(&t->ready, 1);
    while (!atomic_load_explicit(&t->stop, memory_order_relaxed)) {
        int n = fi_deque_steal(t->deque, out, MAX_OUT);
        if (n > 0)
            stolen += (unsigned long)n;
    }
    atomic_fetch_add(&t->stolen, stolen);
    return NULL;
}

static void thieves_start(thieves *t, fi_deque *d, int n)
{
    memset(t, 0, sizeof *t);
    t->deque = d;
    t->n = n;
    for (int i = 0; i < n; i++)
        if (pthread_create(&t->thread[i], NULL, thief_main, t) != 0)
            abort();
    while (atomic_load(&t->ready) < n)
        sched_yield();
}

static void thieves_stop(thieves *t)
{
    atomic_store(&t->stop, true);
    for (int i = 0; i < t->n; i++)
        pthread_join(t->thread[i], NULL);
}

/* ---- the three things measured: ns per pair or per item ---- */

static double pairs(fi_deque *d, long n)
{
    int64_t began = fi_clock_now();
    for (long i = 0; i < n; i++) {
        fi_deque_push(d, d);
        fi_deque_pop(d);
    }
    return (double)(fi_clock_now() - began) / (double)n;
}

static double runs(fi_deque *d, long n)
{
    int64_t began = fi_clock_now();
    for (long i = 0; i < n; i += RUN) {
        for (int k = 0; k < RUN; k++)
            fi_deque_push(d, d);
        for (int k = 0; k < RUN; k++)
            fi_deque_pop(d);
    }
    return (double)(fi_clock_now() - began) / (double)n;
}

static void fill(fi_deque *d)
{
    while (fi_deque_size(d) < CAPACITY && fi_deque_push(d, d) == 0)
        ;
}

/* Nobody else: what the steal itself costs, per item. */
static double steals(fi_deque *d, long n)
{
    void *out[MAX_OUT];
    int64_t spent = 0;
    long taken = 0;
    while (taken < n) {
        fill(d);
        int64_t began = fi_clock_now();
        for (int got; (got = fi_deque_steal(d, out, MAX_OUT)) > 0;)
            taken += got;
        spent += fi_clock_now() - began;
    }
    return (double)spent / (double)taken;
}

typedef struct measure {
    const char *name, *unit;
    double (*run)(fi_deque *d, long n);
    int thieves;
} measure;

static const measure measures[] = {
    {"push+pop", "ns/pair", pairs, 0},
    {"push+pop", "ns/pair", pairs, 1},
    {"push+pop", "ns/pair", pairs, 3},
    {"64 pushes, 64 pops", "ns/pair", runs, 0},
    {"64 pushes, 64 pops", "ns/pair", runs, 1},
    {"64 pushes, 64 pops", "ns/pair", runs, 3},
    {"steal, undisturbed", "ns/item", steals, 0},
};
enum { MEASURES = sizeof measures / sizeof measures[0] };

typedef struct result {
    double sample[MAX_ROUNDS], ratio[MAX_ROUNDS];
    unsigned long stolen;
    int n;
} result;

static result results[MEASURES][KINDS];

static bool applies(const measure *m, int kind)
{
    return kinds[kind] != &plain_stack || m->thieves == 0;
}

static double sample(const measure *m, const fi_deque_kind *kind, long n, unsigned long *stolen)
{
    fi_deque_config config = {.capacity = CAPACITY};
    fi_deque *d;
    if (fi_deque_new(kind, &config, &d) < 0)
        abort();
    thieves t;
    thieves_start(&t, d, m->thieves);
    double ns = m->run(d, n);
    thieves_stop(&t);
    *stolen += atomic_load(&t.stolen);
    fi_deque_free(d);
    return ns;
}

/* The plain array of the same round; with thieves about, it is still the plain array alone. */
static double plain_ns(int m, int round)
{
    while (measures[m].thieves > 0)
        m--;
    return results[m][0].sample[round];
}

static void measure_round(int round, long n)
{
    for (int m = 0; m < MEASURES; m++)
        for (int k = 0; k < KINDS; k++) {
            if (!applies(&measures[m], k))
                continue;
            result *r = &results[m][k];
            r->sample[round] = sample(&measures[m], kinds[k], n, &r->stolen);
            r->ratio[round] = r->sample[round] / plain_ns(m, round);
            r->n = round + 1;
        }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int n)
{
    double sorted[MAX_ROUNDS];
    memcpy(sorted, values, (size_t)n * sizeof *values);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    return sorted[n / 2];
}

static double best(const double *values, int n)
{
    double least = values[0];
    for (int i = 1; i < n; i++)
        least = values[i] < least ? values[i] : least;
    return least;
}

static void print_table(void)
{
    printf("%-20s %8s  %-8s %9s %9s %9s %9s\n", "", "thieves", "kind", "best", "median", "/ plain",
           "stolen");
    for (int m = 0; m < MEASURES; m++)
        for (int k = 0; k < KINDS; k++) {
            const result *r = &results[m][k];
            if (r->n == 0)
                continue;
            printf("%-20s %8d  %-8s %6.2f ns %6.2f ns %8.2fx %9lu\n", measures[m].name,
                   measures[m].thieves, kinds[k]->name, best(r->sample, r->n),
                   median(r->sample, r->n), median(r->ratio, r->n), r->stolen);
        }
}

static void print_json(void)
{
    for (int m = 0; m < MEASURES; m++)
        for (int k = 0; k < KINDS; k++) {
            const result *r = &results[m][k];
            if (r->n == 0)
                continue;
            printf("{\"bench\":\"deque\",\"measure\":\"%s\",\"unit\":\"%s\",\"kind\":\"%s\","
                   "\"thieves\":%d,\"best\":%.3f,\"median\":%.3f,\"ratio_to_plain\":%.3f,"
                   "\"stolen\":%lu,\"samples\":[",
                   measures[m].name, measures[m].unit, kinds[k]->name, measures[m].thieves,
                   best(r->sample, r->n), median(r->sample, r->n), median(r->ratio, r->n),
                   r->stolen);
            for (int i = 0; i < r->n; i++)
                printf("%s%.3f", i ? "," : "", r->sample[i]);
            printf("]}\n");
        }
}

static long number(const char *text, long least, long most)
{
    char *end;
    long n = strtol(text ? text : "", &end, 10);
    if (!text || end == text || *end || n < least || n > most) {
        fprintf(stderr, "deque_bench: a number from %ld to %ld is expected, not \"%s\"\n", least,
                most, text ? text : "");
        exit(2);
    }
    return n;
}

int main(int argc, char **argv)
{
    bool json = false;
    long rounds = 15, n = 100000;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--rounds") == 0) {
            rounds = number(argv[++i], 1, MAX_ROUNDS);
        } else if (strcmp(argv[i], "--pairs") == 0) {
            n = number(argv[++i], RUN, 100000000);
        } else {
            bool help = strcmp(argv[i], "--help") == 0;
            fprintf(help ? stdout : stderr, "usage: deque_bench [--json] [--rounds N] [--pairs N]\n"
                                            "Costs of the four deques beside a plain array; --json "
                                            "gives a line per row with all "
                                            "samples.\n");
            return help ? 0 : 2;
        }
    }
    for (int round = 0; round < rounds; round++)
        measure_round(round, n);
    if (json)
        print_json();
    else
        print_table();
    return 0;
}
