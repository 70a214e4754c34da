/* Map a file of samples and check it, for `filch lab`. */
#include "samples.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEQUES_MAX = 1 << 16, COLUMNS_MAX = 1 << 10 };

static const char *map_it(samples *s, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return strerror(errno);
    if (!S_ISREG(st.st_mode))
        return "is not a regular file";
    s->size = (size_t)st.st_size;
    if (s->size < sizeof s->head)
        return "is not a file of samples: it is too short";
    s->map = mmap(NULL, s->size, PROT_READ, MAP_PRIVATE, fd, 0);
    return s->map == MAP_FAILED ? strerror(errno) : NULL;
}

static bool header_is_valid(const filch_samples_head *h)
{
    return h->deques > 0 && h->deques <= DEQUES_MAX && h->columns >= FILCH_SAMPLES_COLUMNS &&
           h->columns <= COLUMNS_MAX &&
           h->head_size >= sizeof *h + (size_t)h->columns * FILCH_SAMPLES_NAME &&
           h->head_size % 8 == 0 && h->sample_size % 8 == 0 &&
           h->sample_size >= sizeof(uint64_t) + (size_t)h->deques * h->columns * sizeof(uint32_t) &&
           h->ticks_per_second > 0;
}

static const char *samples_check(samples *s)
{
    filch_samples_head *h = &s->head;
    memcpy(h, s->map, sizeof *h);
    if (memcmp(h->magic, FILCH_SAMPLES_MAGIC, sizeof h->magic) != 0)
        return "is not a file of samples";
    if (h->version != FILCH_SAMPLES_VERSION)
        return "was written by another version of Filch, or on another architecture";
    if (!header_is_valid(h))
        return "is damaged: invalid header";
    if (s->size < h->head_size || (s->size - h->head_size) / h->sample_size < h->samples)
        return "is truncated: samples are missing";
    h->kind[sizeof h->kind - 1] = '\0';
    h->clock[sizeof h->clock - 1] = '\0';
    h->program[sizeof h->program - 1] = '\0';
    return NULL;
}

const char *samples_open(samples *s, const char *path)
{
    *s = (samples){.map = MAP_FAILED};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return strerror(errno);
    const char *why = map_it(s, fd);
    close(fd);
    if (!why)
        why = samples_check(s);
    if (why)
        samples_close(s);
    return why;
}

void samples_close(samples *s)
{
    if (s->map != MAP_FAILED)
        munmap((void *)s->map, s->size);
    s->map = MAP_FAILED;
}

static const char *sample_at(const samples *s, uint64_t i)
{
    return s->map + s->head.head_size + i * s->head.sample_size;
}

uint64_t samples_stamp(const samples *s, uint64_t i)
{
    uint64_t stamp;
    memcpy(&stamp, sample_at(s, i), sizeof stamp);
    return stamp;
}

uint32_t samples_value(const samples *s, uint64_t i, uint32_t deque, uint32_t column)
{
    uint32_t value;
    size_t number = (size_t)deque * s->head.columns + column;
    memcpy(&value, sample_at(s, i) + sizeof(uint64_t) + number * sizeof value, sizeof value);
    return value;
}

int32_t samples_deque_size(const samples *s, uint64_t i, uint32_t deque)
{
    return (int32_t)(samples_value(s, i, deque, FILCH_SAMPLES_BOTTOM_INCS) -
                     samples_value(s, i, deque, FILCH_SAMPLES_BOTTOM_DECS) -
                     samples_value(s, i, deque, FILCH_SAMPLES_TOP));
}

const char *samples_column(const samples *s, uint32_t column)
{
    return s->map + sizeof s->head + (size_t)column * FILCH_SAMPLES_NAME;
}
