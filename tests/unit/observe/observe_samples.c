/* The buffer of the sampler.  When it is full, the oldest samples are dropped.  Equal samples in a
 * row take two entries.  A file that is written reads back the same. */
#define _GNU_SOURCE /* memfd_create */
#include "check.h"

#include "base/mem.h"
#include "observe/samples.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static void take(fi_samples *s, uint64_t stamp, uint32_t value)
{
    fi_sample *next = fi_samples_next(s);

    next->stamp = stamp;
    for (uint32_t i = 0; i < s->deques * FILCH_SAMPLES_COLUMNS; i++)
        next->values[i] = value + i;
    fi_samples_commit(s);
}

static void init_samples(fi_samples *s, uint32_t deques, uint64_t capacity)
{
    fi_samples probe;

    CHECK_INT(fi_samples_init(&probe, deques, 0), 0);
    CHECK_INT(probe.sample_size % 8, 0);
    fi_samples_fini(&probe);
    CHECK_INT(fi_samples_init(s, deques, capacity * probe.sample_size), 0);
    CHECK_INT(s->capacity, capacity);
}

static void all_samples_are_kept_until_the_buffer_is_full(void **state)
{
    fi_samples s;

    (void)state;
    init_samples(&s, 3, 10);
    CHECK_INT(fi_samples_count(&s), 0);
    for (uint32_t i = 0; i < 9; i++)
        take(&s, 100 + i, i);
    CHECK_INT(fi_samples_count(&s), 9);
    for (uint32_t i = 0; i < 9; i++) {
        CHECK_INT(fi_samples_at(&s, i)->stamp, 100 + i);
        CHECK_INT(fi_samples_at(&s, i)->values[0], i);
        CHECK_INT(fi_samples_at(&s, i)->values[3 * FILCH_SAMPLES_COLUMNS - 1],
                  i + 3 * FILCH_SAMPLES_COLUMNS - 1);
    }
    fi_samples_fini(&s);
}

static void a_full_buffer_drops_the_oldest(void **state)
{
    fi_samples s;

    (void)state;
    init_samples(&s, 1, 8);
    for (uint32_t i = 0; i < 100; i++)
        take(&s, i, i);
    CHECK_INT(fi_samples_count(&s), 7);
    CHECK_INT(s.stored, 100);
    for (uint32_t i = 0; i < 7; i++)
        CHECK_INT(fi_samples_at(&s, i)->stamp, 93 + i);
    fi_samples_fini(&s);
}

static void equal_samples_are_stored_as_first_and_last(void **state)
{
    static const uint64_t stamps[] = {10, 19, 20, 29};
    fi_samples s;

    (void)state;
    init_samples(&s, 2, 8);
    for (uint32_t i = 10; i < 30; i++)
        take(&s, i, i / 10);
    CHECK_INT(s.taken, 20);
    CHECK_INT(fi_samples_count(&s), 4);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_INT(fi_samples_at(&s, i)->stamp, stamps[i]);
        CHECK_INT(fi_samples_at(&s, i)->values[0], stamps[i] / 10);
    }
    fi_samples_fini(&s);
}

static void check_head(const filch_samples_head *h)
{
    CHECK(memcmp(h->magic, FILCH_SAMPLES_MAGIC, sizeof h->magic) == 0);
    CHECK_INT(h->version, FILCH_SAMPLES_VERSION);
    CHECK_INT(h->deques, 1);
    CHECK_INT(h->columns, FILCH_SAMPLES_COLUMNS);
    CHECK_INT(h->samples, 7);
    CHECK_INT(h->taken, 12);
    CHECK_INT(h->dropped, 5);
    CHECK_STR(h->kind, "batch");
}

static void a_written_file_reads_back(void **state)
{
    filch_samples_head head = {.kind = "batch"}, read_back;
    char name[FILCH_SAMPLES_NAME];
    int fd = memfd_create("samples", 0);
    fi_samples s;

    (void)state;
    init_samples(&s, 1, 8);
    for (uint32_t i = 0; i < 12; i++) /* more than the capacity: the ring wraps */
        take(&s, i, i);
    CHECK_INT(fi_samples_write(&s, &head, fd), 0);
    CHECK_INT(lseek(fd, 0, SEEK_CUR), head.head_size + 7 * head.sample_size);
    CHECK_INT(pread(fd, &read_back, sizeof read_back, 0), sizeof read_back);
    check_head(&read_back);
    CHECK_INT(pread(fd, name, sizeof name, sizeof head + FILCH_SAMPLES_RESIZES * sizeof name),
              sizeof name);
    CHECK_STR(name, "resizes");
    for (uint32_t i = 0; i < 7; i++) {
        uint64_t stamp;
        CHECK_INT(pread(fd, &stamp, sizeof stamp, head.head_size + i * head.sample_size),
                  sizeof stamp);
        CHECK_INT(stamp, 5 + i);
    }
    CHECK_INT(close(fd), 0);
    CHECK_INT(fi_samples_write(&s, &head, fd), -EBADF);
    fi_samples_fini(&s);
}

CHECK_MAIN(all_samples_are_kept_until_the_buffer_is_full, a_full_buffer_drops_the_oldest,
           equal_samples_are_stored_as_first_and_last, a_written_file_reads_back)
