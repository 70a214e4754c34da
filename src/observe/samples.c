/* The ring that sampler.c fills, and the file that it writes. */
#include "observe/samples.h"

#include "base/compiler.h"
#include "base/mem.h"
#include "observe/output.h"

#include <errno.h>
#include <string.h>

#define CAPACITY_MIN 4u

static const char names[FILCH_SAMPLES_COLUMNS][FILCH_SAMPLES_NAME] = {
    [FILCH_SAMPLES_BOTTOM_INCS] = "bottom_incs",
    [FILCH_SAMPLES_BOTTOM_DECS] = "bottom_decs",
    [FILCH_SAMPLES_TOP] = "top",
    [FILCH_SAMPLES_PUSHES] = "pushes",
    [FILCH_SAMPLES_POPS] = "pops",
    [FILCH_SAMPLES_POPS_FAILED] = "pops_failed",
    [FILCH_SAMPLES_STEALS_SINGLE] = "steals_single",
    [FILCH_SAMPLES_STEALS_SINGLE_FAILED] = "steals_single_failed",
    [FILCH_SAMPLES_STEALS_MULTIPLE] = "steals_multiple",
    [FILCH_SAMPLES_STEALS_MULTIPLE_FAILED] = "steals_multiple_failed",
    [FILCH_SAMPLES_STOLEN] = "stolen",
    [FILCH_SAMPLES_RESIZES] = "resizes",
};

static size_t values_size(const fi_samples *s)
{
    return (size_t)s->deques * FILCH_SAMPLES_COLUMNS * sizeof(uint32_t);
}

int fi_samples_init(fi_samples *s, uint32_t deques, size_t bytes)
{
    memset(s, 0, sizeof *s);
    s->deques = deques;
    s->sample_size = (uint32_t)((sizeof(fi_sample) + values_size(s) + 7) / 8 * 8);
    s->capacity = bytes / s->sample_size;
    if (s->capacity < CAPACITY_MIN)
        s->capacity = CAPACITY_MIN;
    s->memory = fi_mem_alloc_array(s->capacity, s->sample_size, FI_CACHE_LINE);
    if (!s->memory)
        return -ENOMEM;
    memset(s->memory, 0xff,
           s->capacity * s->sample_size); /* an unwritten page could stay unmapped */
    memset(s->memory, 0, s->capacity * s->sample_size);
    return 0;
}

void fi_samples_fini(fi_samples *s)
{
    fi_mem_free(s->memory, s->capacity * s->sample_size, FI_CACHE_LINE);
}

static fi_sample *sample_at(const fi_samples *s, uint64_t number)
{
    return (fi_sample *)(void *)(s->memory + number % s->capacity * s->sample_size);
}

fi_sample *fi_samples_next(fi_samples *s)
{
    return sample_at(s, s->stored);
}

static bool values_equal(const fi_samples *s, const fi_sample *a, const fi_sample *b)
{
    return memcmp(a->values, b->values, values_size(s)) == 0;
}

/* Of several equal samples only the first and the last are kept. */
static bool is_unchanged(const fi_samples *s, const fi_sample *next)
{
    return s->stored >= 2 && values_equal(s, next, sample_at(s, s->stored - 1)) &&
           values_equal(s, next, sample_at(s, s->stored - 2));
}

void fi_samples_commit(fi_samples *s)
{
    fi_sample *next = fi_samples_next(s);

    s->taken++;
    if (is_unchanged(s, next))
        sample_at(s, s->stored - 1)->stamp = next->stamp;
    else
        s->stored++;
}

/* The slot of the next sample does not count. */
uint64_t fi_samples_count(const fi_samples *s)
{
    return s->stored < s->capacity ? s->stored : s->capacity - 1;
}

const fi_sample *fi_samples_at(const fi_samples *s, uint64_t i)
{
    return sample_at(s, s->stored - fi_samples_count(s) + i);
}

/* The ring is written in at most two pieces. */
static int write_samples(const fi_samples *s, int fd)
{
    uint64_t n = fi_samples_count(s), first = (s->stored - n) % s->capacity;
    uint64_t to_end = n < s->capacity - first ? n : s->capacity - first;
    int e = fi_output_append(fd, s->memory + first * s->sample_size, to_end * s->sample_size);

    return e < 0 ? e : fi_output_append(fd, s->memory, (n - to_end) * s->sample_size);
}

int fi_samples_write(const fi_samples *s, filch_samples_head *head, int fd)
{
    int e;

    memcpy(head->magic, FILCH_SAMPLES_MAGIC, sizeof head->magic);
    head->version = FILCH_SAMPLES_VERSION;
    head->head_size = sizeof *head + sizeof names;
    head->sample_size = s->sample_size;
    head->deques = s->deques;
    head->columns = FILCH_SAMPLES_COLUMNS;
    head->samples = fi_samples_count(s);
    head->taken = s->taken;
    head->retried = s->retried;
    head->dropped = s->stored - head->samples;
    e = fi_output_append(fd, head, sizeof *head);
    if (e == 0)
        e = fi_output_append(fd, names, sizeof names);
    return e < 0 ? e : write_samples(s, fd);
}
