/* The affinity mask, on machines with more CPUs than cpu_set_t holds and on this one. */
#include "base/affinity.h"
#include "base/cpu_count.h"
#include "base/mem.h"
#include "check.h"

#include <errno.h>
#include <filch/runtime.h>
#include <limits.h>

static void set_bit(unsigned long *mask, size_t size, size_t bit)
{
    const size_t word = sizeof *mask * CHAR_BIT;

    CHECK(bit / CHAR_BIT < size);
    mask[bit / word] |= 1UL << bit % word;
}

/* A kernel for 8192 CPUs: refuses a mask that is smaller. */
static int large_machine(size_t size, unsigned long *mask)
{
    static const size_t cpus[] = {0, 63, 64, 1023, 1024, 4000, 8191};

    if (size < 8192 / CHAR_BIT)
        return -EINVAL;
    for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++)
        set_bit(mask, size, cpus[i]);
    return 0;
}

static void test_more_than_1024_cpus(void **state)
{
    static const int expected[] = {0, 63, 64, 1023, 1024, 4000, 8191};
    fi_cpu_set set;

    (void)state;
    CHECK_INT(fi_cpu_set_read(large_machine, &set), 0);
    CHECK_INT(set.n, 7);
    for (int i = 0; i < 7; i++)
        CHECK_INT(set.ids[i], expected[i]);
    fi_cpu_set_fini(&set);
    CHECK_INT(fi_mem_live().blocks, 0);
}

static int never_large_enough(size_t size, unsigned long *mask)
{
    (void)size, (void)mask;
    return -EINVAL;
}

static int forbidden(size_t size, unsigned long *mask)
{
    (void)size, (void)mask;
    return -EPERM;
}

static int empty(size_t size, unsigned long *mask)
{
    (void)size, (void)mask;
    return 0;
}

static void check_counts_as_one_cpu(fi_affinity_get *get, int error)
{
    fi_cpu_set set;

    CHECK_INT(fi_cpu_set_read(get, &set), error);
    CHECK_INT(fi_cpu_count("", get), 1);
    CHECK_INT(fi_mem_live().blocks, 0);
}

static void test_no_mask_is_one_cpu(void **state)
{
    (void)state;
    check_counts_as_one_cpu(never_large_enough, -EINVAL);
    check_counts_as_one_cpu(forbidden, -EPERM);
    check_counts_as_one_cpu(empty, -ENODATA);
}

static unsigned process_cpus(void)
{
    fi_cpu_set set;

    CHECK_INT(fi_cpu_set_read(fi_affinity_get_process, &set), 0);
    unsigned n = set.n;
    for (unsigned i = 1; i < n; i++)
        CHECK(set.ids[i] > set.ids[i - 1]);
    fi_cpu_set_fini(&set);
    return n;
}

/* The number of CPUs in a list such as "0-3,8,10-11". */
static unsigned count_list(const char *list)
{
    unsigned n = 0;

    for (char *end;; list = end + 1) {
        unsigned long first = strtoul(list, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        n += (unsigned)(last - first) + 1;
        if (*end != ',')
            return n;
    }
}

/* The same number from /proc/self/status. */
static unsigned status_cpus(void)
{
    const char *name = "Cpus_allowed_list:\t";
    unsigned n = 0;
    char line[65536];
    FILE *f = fopen("/proc/self/status", "re");

    CHECK(f != NULL);
    while (n == 0 && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            n = count_list(line + strlen(name));
    fclose(f);
    return n;
}

static void test_this_process(void **state)
{
    (void)state;
    CHECK_INT(process_cpus(), status_cpus());
    CHECK(filch_cpu_count() >= 1);
    CHECK(filch_cpu_count() <= process_cpus());
    CHECK_INT(filch_cpu_count(), fi_cpu_count("", fi_affinity_get_process));
    CHECK_INT(fi_mem_live().blocks, 0);
}

CHECK_MAIN(test_more_than_1024_cpus, test_no_mask_is_one_cpu, test_this_process)
