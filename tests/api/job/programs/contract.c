/* Groups, jobs and algorithms as in the documentation. */
#include <filch/filch.h>
#include <stdio.h>

static int item[10];
static char said[64];

static void work(void *arg)
{
    *(int *)arg = 1;
}

static void print(const char *word)
{
    size_t n = 0;

    while (said[n])
        n++;
    snprintf(said + n, sizeof said - n, n ? " %s" : "%s", word);
}

static void load(void *x)
{
    (void)x;
    print("load");
}

static void parse(void *x)
{
    (void)x;
    print("parse");
}

static void render(void *x)
{
    (void)x;
    print("render");
}

static long v[100];

static void body(size_t lo, size_t hi, void *ctx)
{
    (void)ctx;
    for (size_t i = lo; i < hi; i++)
        v[i] = (long)i;
}

static void map(size_t lo, size_t hi, void *acc, void *ctx)
{
    (void)ctx;
    for (size_t i = lo; i < hi; i++)
        *(long *)acc += v[i];
}

static void combine(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(long *)acc += *(const long *)other;
}

int main(void)
{
    int n = 10, done = 0, x = 0;
    long acc = 0, zero = 0, sum = 0;

    filch_group g = FILCH_GROUP_INIT;
    for (int i = 0; i < n; i++)
        filch_group_run(&g, work, &item[i]);
    filch_group_wait(&g);
    for (int i = 0; i < n; i++)
        done += item[i];
    printf("%d of %d\n", done, n);

    filch_job *a = filch_job_new(load, &x), *b = filch_job_new(parse, &x),
              *c = filch_job_new(render, &x);
    filch_job_set_group(a, &g);
    filch_job_set_group(b, &g);
    filch_job_set_group(c, &g);
    filch_job_after(b, a);
    filch_job_after(c, b);
    filch_job_submit(a);
    filch_job_submit(b);
    filch_job_submit(c);
    filch_group_wait(&g);
    printf("%s\n", said);

    filch_for(0, 100, 0, body, NULL);
    filch_reduce(0, 100, 0, &acc, &zero, sizeof acc, map, combine, NULL);
    for (int i = 0; i < 100; i++)
        sum += v[i];
    printf("%ld %ld\n", acc, sum);
    return 0;
}
