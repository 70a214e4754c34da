/* Reads and calibrates the counter of the processor.
 *
 * The frequency that the hardware states is exact if it is correct.  It is not always correct:
 * nominal MHz are rounded, hypervisors scale the counter, and firmware leaves it out.  So the
 * frequency is also measured, for 2 ms.  The stated one is used if both agree. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/atomic.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define NS_PER_S   1000000000
#define NS_PER_MS  1000000
#define ONE        ((uint64_t)1 << 32) /* scale of a counter of 1 GHz */
#define MEASURE_NS 2000000
/* Stated and measured frequency agree if they differ by less than 1 part in 1000.  CLOCK_MONOTONIC
 * itself may be slewed by half of that. */
#define AGREE_PARTS 1000

__extension__ typedef unsigned __int128 wide;

static FI_ATOMIC(int) source;     /* 0: unknown */
static FI_ATOMIC(uint64_t) scale; /* 0: unknown */

int64_t fi_clock_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* The clock is never negative, so the difference fits. */
int64_t fi_clock_left(int64_t deadline_ns)
{
    int64_t now;

    if (deadline_ns == INT64_MAX)
        return INT64_MAX;
    now = fi_clock_now();
    return deadline_ns > now ? deadline_ns - now : 0;
}

int fi_clock_left_ms(int64_t deadline_ns)
{
    int64_t ns = fi_clock_left(deadline_ns), ms = ns / NS_PER_MS + (ns % NS_PER_MS > 0);

    if (ns == INT64_MAX)
        return -1;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

/* The counter of this architecture.  counter_kind is FI_CLOCK_MONOTONIC if the counter is not
 * reliable.  counter_hz is 0 if the hardware does not state it. */
#if defined __x86_64__

#include <cpuid.h>
#include <fcntl.h>
#include <unistd.h>

static uint64_t counter_read(void)
{
    uint32_t low, high, cpu;

    /* RDTSCP waits for earlier instructions; the clobber keeps the compiler from moving any. */
    __asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(cpu)::"memory");
    return (uint64_t)high << 32 | low;
}

static uint64_t counter_read_unordered(void)
{
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

/* [any] Whether CPUID sets this bit of EDX in this leaf. */
static bool cpu_has(unsigned leaf, unsigned bit)
{
    unsigned a, b, c, d;

    return __get_cpuid(leaf, &a, &b, &c, &d) != 0 && (d >> bit & 1) != 0;
}

/* [any] Linux uses these slow clocks only if it saw that the TSCs of two CPUs differ.  CPUID does
 * not show that. */
static bool kernel_rejected_tsc(void)
{
    static const char *const slow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies"};
    char name[32];
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    ssize_t n = read(fd, name, sizeof name - 1);
    close(fd);
    name[n < 0 ? 0 : n] = '\0';
    name[strcspn(name, "\n")] = '\0';
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++)
        if (strcmp(name, slow[i]) == 0)
            return true;
    return false;
}

static fi_clock_kind counter_kind(void)
{
    bool has_rdtscp = cpu_has(0x80000001, 27);
    bool is_invariant = cpu_has(0x80000007, 8);

    if (has_rdtscp && is_invariant && !kernel_rejected_tsc())
        return FI_CLOCK_TSC;
    return FI_CLOCK_MONOTONIC;
}

/* [any] Leaf 0x15: the crystal frequency and the ratio of TSC to crystal.  If the frequency is
 * missing, the TSC runs at the base frequency of leaf 0x16. */
static uint64_t hz_from_processor(void)
{
    unsigned den, num, crystal, unused, mhz;

    if (__get_cpuid(0x15, &den, &num, &crystal, &unused) == 0 || den == 0 || num == 0)
        return 0;
    if (crystal != 0)
        return (uint64_t)crystal * num / den;
    if (__get_cpuid(0x16, &mhz, &num, &crystal, &unused) == 0)
        return 0;
    return (uint64_t)(mhz & 0xffff) * 1000000;
}

/* [any] Leaf 0x40000010 of VMware and other hypervisors: kHz.  Leaf 0x40000000 is the highest leaf
 * of the hypervisor. */
static uint64_t hz_from_hypervisor(void)
{
    unsigned a, b, c, d;

    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 31 & 1) == 0)
        return 0;
    __cpuid(0x40000000, a, b, c, d);
    if (a < 0x40000010 || a > 0x400000ff)
        return 0;
    __cpuid(0x40000010, a, b, c, d);
    return (uint64_t)a * 1000;
}

static uint64_t counter_hz(void)
{
    uint64_t hz = hz_from_hypervisor();

    return hz != 0 ? hz : hz_from_processor();
}

#elif defined __aarch64__

static uint64_t counter_read(void)
{
    uint64_t ticks;

    /* Without the barrier the counter may be read much too early. */
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
    return ticks;
}

static uint64_t counter_read_unordered(void)
{
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

/* The architecture requires one counter of constant speed for all CPUs. */
static fi_clock_kind counter_kind(void)
{
    return FI_CLOCK_CNTVCT;
}

static uint64_t counter_hz(void)
{
    uint64_t hz;

    __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz & UINT32_MAX;
}

#else

static uint64_t counter_read(void)
{
    return (uint64_t)fi_clock_now();
}

static uint64_t counter_read_unordered(void)
{
    return counter_read();
}

static fi_clock_kind counter_kind(void)
{
    return FI_CLOCK_MONOTONIC;
}

static uint64_t counter_hz(void)
{
    return NS_PER_S;
}

#endif

/* [any] Two threads may run this at the same time, with the same result. */
__attribute__((noinline)) static int find_source(void)
{
    int kind = (int)counter_kind();

    fi_store_relaxed(&source, kind);
    return kind;
}

fi_clock_kind fi_clock_source(void)
{
    int kind = fi_load_relaxed(&source); /* relaxed: only the word itself is read */

    return (fi_clock_kind)(kind != 0 ? kind : find_source());
}

uint64_t fi_clock_ticks(void)
{
    if (fi_clock_source() == FI_CLOCK_MONOTONIC)
        return (uint64_t)fi_clock_now();
    return counter_read();
}

uint64_t fi_clock_ticks_unordered(void)
{
    if (fi_clock_source() == FI_CLOCK_MONOTONIC)
        return (uint64_t)fi_clock_now();
    return counter_read_unordered();
}

uint64_t fi_clock_scale_measured(fi_clock_reading a, fi_clock_reading b)
{
    if (b.ns <= a.ns || b.ticks <= a.ticks)
        return 0;
    wide ns = (wide)(uint64_t)(b.ns - a.ns) << 32;
    wide result = (ns + (b.ticks - a.ticks) / 2) / (b.ticks - a.ticks);
    return result > UINT64_MAX ? 0 : (uint64_t)result;
}

uint64_t fi_clock_scale_of(uint64_t hz)
{
    if (hz == 0)
        return 0;
    return (uint64_t)((((wide)NS_PER_S << 32) + hz / 2) / hz);
}

uint64_t fi_clock_scale_choose(uint64_t stated, uint64_t measured)
{
    if (measured == 0)
        return stated != 0 ? stated : ONE;
    uint64_t off = stated > measured ? stated - measured : measured - stated;
    return off <= measured / AGREE_PARTS ? stated : measured;
}

int64_t fi_clock_scale_to_ns(uint64_t ticks, uint64_t by)
{
    wide ns = ((wide)ticks * by + ONE / 2) >> 32;

    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

uint64_t fi_clock_scale_to_ticks(int64_t ns, uint64_t by)
{
    if (ns <= 0)
        return 0;
    wide ticks = (((wide)(uint64_t)ns << 32) + by / 2) / by;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

/* Of a few attempts, use the one with the shortest time between two reads of the ticks, so that a
 * preemption does no harm. */
fi_clock_reading fi_clock_read_both(void)
{
    fi_clock_reading best = {0, 0};
    uint64_t best_gap = UINT64_MAX;

    for (int i = 0; i < 8; i++) {
        uint64_t before = fi_clock_ticks();
        int64_t ns = fi_clock_now();
        uint64_t gap = fi_clock_ticks() - before;
        if (gap < best_gap) {
            best_gap = gap;
            best = (fi_clock_reading){.ns = ns, .ticks = before + gap / 2};
        }
    }
    return best;
}

static void sleep_until(int64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

static void calibrate(void)
{
    if (fi_clock_source() == FI_CLOCK_MONOTONIC) {
        fi_store_relaxed(&scale, ONE);
        return;
    }
    fi_clock_reading start = fi_clock_read_both();
    sleep_until(start.ns + MEASURE_NS);
    uint64_t measured = fi_clock_scale_measured(start, fi_clock_read_both());
    fi_store_relaxed(&scale, fi_clock_scale_choose(fi_clock_scale_of(counter_hz()), measured));
}

__attribute__((noinline)) static uint64_t find_scale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, calibrate);
    return fi_load_relaxed(&scale);
}

static uint64_t get_scale(void)
{
    uint64_t s = fi_load_relaxed(&scale); /* relaxed: only the word itself is read */

    return s != 0 ? s : find_scale();
}

int64_t fi_clock_ticks_to_ns(uint64_t ticks)
{
    return fi_clock_scale_to_ns(ticks, get_scale());
}

uint64_t fi_clock_ns_to_ticks(int64_t ns)
{
    return fi_clock_scale_to_ticks(ns, get_scale());
}
