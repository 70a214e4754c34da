/* Demonstration of the four deques: their order of push, pop and steal, and a check that no item is
 * lost or taken twice while an owner and two thieves work at once. */
#include "base/clock.h"
#include "deque/deque.h"

#include <filch/filch.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LETTERS = 6, ITEMS = 1000000, THIEVES = 2, MAX_OUT = 64 };

static char letters[LETTERS + 1] = "ABCDEF";

static fi_deque *make(const fi_deque_ops *kind, uint32_t capacity, uint32_t batch)
{
    fi_deque_config c = {.capacity = capacity, .batch = batch};
    fi_deque *d;
    int e = fi_deque_new(kind, &c, &d);
    if (e < 0) {
        fprintf(stderr, "deque_stats: cannot make a deque: %s\n", strerror(-e));
        exit(1);
    }
    return d;
}

/* ---- one deque of each kind, one thread ---- */

/* " A B C", valid until the next call */
static const char *spaced(void *const *taken, int n)
{
    static char text[2 * LETTERS + 1];
    char *end = text;
    for (int i = 0; i < n && i < LETTERS; i++) {
        *end++ = ' ';
        *end++ = *(const char *)taken[i];
    }
    *end = '\0';
    return text;
}

static void show_kind(const fi_deque_ops *kind)
{
    uint32_t batch = kind == &fi_deque_bounded ? 1 : 2;
    fi_deque *d = make(kind, 4, kind == &fi_deque_half ? 0 : batch);
    int n = 0;
    while (n < LETTERS && fi_deque_push(d, &letters[n]) == 0)
        n++;
    void *letter[LETTERS];
    for (int i = 0; i < n; i++)
        letter[i] = &letters[i];
    printf("  %-8s  top [%-12s ] bottom  %-12s", kind->name, spaced(letter, n),
           n < LETTERS ? "(E refused)" : "(grew to 8)");

    void *taken[LETTERS] = {NULL};
    int stolen = fi_deque_steal(d, taken, LETTERS);
    printf("  a thief takes%-6s", spaced(taken, stolen));
    taken[0] = fi_deque_pop(d);
    printf("  the owner pops%s", spaced(taken, 1));
    printf("\n");
    fi_deque_free(d);
}

/* ---- an owner and two thieves, a million items ---- */

typedef struct race {
    fi_deque *deque;
    atomic_uchar *obtained;
    atomic_bool done;
    atomic_long stolen, steals, lost;
} race;

static void obtain(race *r, void *item)
{
    atomic_fetch_add_explicit(&r->obtained[(uintptr_t)item - 1], 1, memory_order_relaxed);
}

static void *thief_main(void *arg)
{
    race *r = arg;
    void *out[MAX_OUT];
    long stolen = 0, steals = 0, lost = 0;
    for (bool done = false; !done;) {
        done = atomic_load(&r->done);
        int n = fi_deque_steal(r->deque, out, MAX_OUT);
        for (int i = 0; i < n; i++)
            obtain(r, out[i]);
        stolen += n > 0 ? n : 0;
        steals += n > 0;
        lost += n == FI_STEAL_LOST || n == FI_STEAL_LOST_SEVERAL;
        done = done && n == FI_STEAL_EMPTY;
        if (n == FI_STEAL_EMPTY)
            sched_yield();
    }
    atomic_fetch_add(&r->stolen, stolen);
    atomic_fetch_add(&r->steals, steals);
    atomic_fetch_add(&r->lost, lost);
    return NULL;
}

static void own(race *r)
{
    for (uintptr_t i = 1; i <= ITEMS; i++) {
        void *item = NULL;
        while (fi_deque_push(r->deque, (void *)i) == -ENOSPC)
            if ((item = fi_deque_pop(r->deque)))
                obtain(r, item);
        if (i % 3 == 0 && (item = fi_deque_pop(r->deque)))
            obtain(r, item);
    }
    for (void *item; (item = fi_deque_pop(r->deque));)
        obtain(r, item);
    atomic_store(&r->done, true);
}

static bool exactly_once(const race *r)
{
    for (int i = 0; i < ITEMS; i++)
        if (atomic_load_explicit(&r->obtained[i], memory_order_relaxed) != 1)
            return false;
    return true;
}

static bool show_race(const fi_deque_ops *kind)
{
    race r = {.deque = make(kind, 256, 0), .obtained = calloc(ITEMS, 1)};
    pthread_t thief[THIEVES];
    if (!r.obtained)
        abort();
    int64_t began = fi_clock_now();
    for (int i = 0; i < THIEVES; i++)
        if (pthread_create(&thief[i], NULL, thief_main, &r) != 0)
            abort();
    own(&r);
    for (int i = 0; i < THIEVES; i++)
        pthread_join(thief[i], NULL);
    double ms = (double)(fi_clock_now() - began) * 1e-6;
    bool good = exactly_once(&r);
    printf("  %-8s %7.1f ms   %7ld stolen in %7ld steals, %6ld lost races   %s\n", kind->name, ms,
           atomic_load(&r.stolen), atomic_load(&r.steals), atomic_load(&r.lost),
           good ? "each item obtained exactly once" : "WRONG: an item was lost or taken twice");
    fi_deque_free(r.deque);
    free(r.obtained);
    return good;
}

/* Returns the exit code: 0 for --help, 2 for any other argument. */
static int handle_arg(const char *arg)
{
    bool help = strcmp(arg, "--help") == 0;
    if (help)
        printf("usage: deque_stats\nDemonstrate the four deques.  Exits with 1 if one of them "
               "loses an item.\n");
    else
        fprintf(stderr, "deque_stats: takes no arguments: \"%s\"; see --help\n", arg);
    return help ? 0 : 2;
}

int main(int argc, char **argv)
{
    bool good = true;
    if (argc > 1)
        return handle_arg(argv[1]);
    printf("Filch %s: the deques of its workers (%u CPUs)\n\n", filch_version(), filch_cpu_count());
    printf("One deque of each kind, capacity 4, six letters pushed:\n");
    for (const fi_deque_ops *const *k = fi_deque_kinds; *k; k++)
        show_kind(*k);
    printf("\nAn owner pushes and pops a million items, and %d thieves steal:\n", THIEVES);
    for (const fi_deque_ops *const *k = fi_deque_kinds; *k; k++)
        good &= show_race(*k);
    return !good;
}
