/* Time and memory of many stacks: one million by default, each with a guard and one touched page.
 *
 *   create  first allocation of a stack and first touch of its top page
 *   free    free of stacks that the cache does not keep, so their memory returns to the kernel
 *   reuse   allocation, touch and free of a cached stack
 *
 * stack_bench [--json] [COUNT] [SIZE]
 */
#include "stack/stack.h"

#include "parts/args.h"

#include <stdint.h>
#include <time.h>
#include <unistd.h>

#define REUSES    10000000L
#define COUNT_MAX ((size_t)100000000)

struct results {
    size_t count, size, page;
    double create_ns, reuse_ns, free_ns;
    double resident, records, page_tables; /* bytes per stack */
    double left;                           /* bytes per stack still resident after all are freed */
    fi_stack_stats stats;
    const char *guard;
};

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A line of /proc/self/status, in bytes. */
static double status_bytes(const char *key)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    double kib = 0;

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            kib = strtod(line + strlen(key), NULL);
    if (f)
        fclose(f);
    return kib * 1024;
}

static int create_all(fi_stack_cache *c, fi_stack **s, struct results *out)
{
    double begin = now_ns();

    for (size_t i = 0; i < out->count; i++) {
        int e = fi_stack_alloc(c, &s[i]);

        if (e < 0) {
            fprintf(stderr, "stack_bench: stack %zu of %zu: %s\n", i + 1, out->count, strerror(-e));
            return e;
        }
        *(volatile char *)(s[i]->low + s[i]->size - 64) = 1;
    }
    out->create_ns = (now_ns() - begin) / (double)out->count;
    return 0;
}

static void free_all(fi_stack_cache *c, fi_stack **s, struct results *out)
{
    double begin = now_ns();

    for (size_t i = 0; i < out->count; i++)
        fi_stack_free(c, s[i], NULL);
    out->free_ns = (now_ns() - begin) / (double)out->count;
}

static int reuse_cached(fi_stack_cache *c, struct results *out)
{
    double begin = now_ns();

    for (long i = 0; i < REUSES; i++) {
        fi_stack *s;
        int e = fi_stack_alloc(c, &s);

        if (e < 0)
            return e;
        *(volatile char *)(s->low + s->size - 64) = 1;
        fi_stack_free(c, s, NULL);
    }
    out->reuse_ns = (now_ns() - begin) / (double)REUSES;
    return 0;
}

static int measure(fi_stack_pool *p, fi_stack **s, struct results *out)
{
    fi_stack_cache c;
    int e = fi_stack_cache_init(&c, p, 0);
    double resident = status_bytes("VmRSS:"), tables = status_bytes("VmPTE:");

    if (e == 0)
        e = create_all(&c, s, out);
    if (e < 0)
        return e;
    double n = (double)out->count;
    fi_stack_pool_stats(p, &out->stats);
    out->records = (double)out->stats.bookkeeping / n;
    out->resident = (status_bytes("VmRSS:") - resident) / n;
    out->page_tables = (status_bytes("VmPTE:") - tables) / n;
    free_all(&c, s, out);
    out->left = (status_bytes("VmRSS:") - resident) / n;
    e = reuse_cached(&c, out);
    fi_stack_cache_fini(&c);
    return e;
}

static void print_json(const struct results *f)
{
    printf("{\"bench\":\"stack\",\"count\":%zu,\"stack_size\":%zu,\"guard\":\"%s\","
           "\"guarded\":%zu,\"create_ns\":%.1f,\"free_ns\":%.1f,\"reuse_ns\":%.2f,"
           "\"resident_bytes\":%.1f,\"record_bytes\":%.1f,\"page_table_bytes\":%.1f,"
           "\"left_bytes\":%.1f}\n",
           f->count, f->size, f->guard,
           f->stats.n_allocated - f->stats.guards[FI_STACK_GUARD_CANARY], f->create_ns, f->free_ns,
           f->reuse_ns, f->resident, f->records, f->page_tables, f->left);
}

static void print_table(const struct results *f)
{
    printf("%zu live stacks of %zu bytes, guard: %s (%zu weaker)\n", f->count, f->size, f->guard,
           f->stats.fallbacks);
    printf("  create and touch   %10.1f ns\n", f->create_ns);
    printf("  free, not cached   %10.1f ns\n", f->free_ns);
    printf("  reuse, cached      %10.2f ns\n", f->reuse_ns);
    printf("  resident           %10.1f bytes each (page size %zu)\n", f->resident, f->page);
    printf("  of which records   %10.1f bytes each\n", f->records);
    printf("  page tables        %10.1f bytes each, in the kernel\n", f->page_tables);
    printf("  left after freeing %10.1f bytes each\n", f->left);
}

static int run(struct results *f, bool json)
{
    fi_stack_config config = {.stack_size = f->size};
    fi_stack_pool p;
    fi_stack **s = malloc(f->count * sizeof(fi_stack *));
    int e = s ? fi_stack_pool_init(&p, &config) : -1;

    if (e < 0) {
        fprintf(stderr, "stack_bench: cannot create the pool: %s\n",
                s ? strerror(-e) : "out of memory");
        free(s);
        return 1;
    }
    memset(s, 0xff, f->count * sizeof(fi_stack *)); /* resident before anything is measured */
    f->page = p.page;
    f->guard = fi_stack_guard_name(fi_stack_guard_kind(&p));
    e = measure(&p, s, f);
    free(s);
    if (e < 0)
        return 1;
    fi_stack_pool_fini(&p);
    (json ? print_json : print_table)(f);
    return 0;
}

static const char help[] = "[--json] [COUNT] [SIZE]\n"
                           "Measure time and memory of COUNT live stacks of SIZE bytes.  COUNT: 1 "
                           "to 100000000 (1000000).\n"
                           "SIZE: a multiple of the page size, 8192 to 1073741824 (65536).  "
                           "--json: print one JSON line.\n";

int main(int argc, char **argv)
{
    args a = {.program = "stack_bench",
              .help = help,
              .number = {{1, COUNT_MAX, "not a number of stacks", 1000000},
                         {FI_STACK_SIZE_MIN, FI_STACK_SIZE_MAX, "not a stack size", 65536}}};
    args_parse(&a, argv + (argc > 0));
    struct results f = {.count = a.number[0].value, .size = a.number[1].value};

    if (f.size % (size_t)sysconf(_SC_PAGESIZE) != 0) {
        char size[32];
        snprintf(size, sizeof size, "%zu", f.size);
        args_error(&a, size, "not a multiple of the page size");
    }
    return run(&f, a.json);
}
