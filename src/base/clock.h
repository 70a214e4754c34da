/* Two clocks: one that tells the time, one that is cheap and exact for measuring.
 *
 * fi_clock_now is CLOCK_MONOTONIC; deadlines are in its nanoseconds.  fi_clock_ticks reads the
 * processor's own counter where that runs at one speed on all CPUs, else CLOCK_MONOTONIC again;
 * differences of ticks become nanoseconds by fi_clock_ticks_to_ns, never ticks themselves.
 */
#ifndef FI_BASE_CLOCK_H
#define FI_BASE_CLOCK_H

#include <stdint.h>

typedef enum fi_clock_kind {
    FI_CLOCK_MONOTONIC = 1, /* no counter to be trusted: a tick is a nanosecond */
    FI_CLOCK_TSC,           /* x86: RDTSCP */
    FI_CLOCK_CNTVCT,        /* ARM: the virtual counter */
} fi_clock_kind;

/* [any] Nanoseconds of CLOCK_MONOTONIC. */
int64_t fi_clock_now(void);

/* [any] Nanoseconds from now until a deadline: 0 when it has passed, INT64_MAX when the deadline is
 * INT64_MAX (never).  Users may give any value.  Only this function subtracts from a deadline. */
int64_t fi_clock_left(int64_t deadline_ns);

/* [any] The same as a timeout of poll(2) or epoll_wait(2): milliseconds rounded up, at most INT_MAX; -1: never. */
int fi_clock_left_ms(int64_t deadline_ns);

/* [any] Ticks of the best counter there is.  Not before all earlier instructions have run. */
uint64_t fi_clock_ticks(void);

/* [any] The same, without waiting for anything: what stands before it may still be under way, and what stands behind it may have
 * begun.  Some tens of nanoseconds less exact, and several times cheaper. */
uint64_t fi_clock_ticks_unordered(void);

/* [any] Which counter that is; the same for the whole life of the process. */
fi_clock_kind fi_clock_source(void);

/* [any] How long so many ticks last, INT64_MAX when that does not fit.  The first call in a process
 * measures the counter's speed, which takes some 2 ms. */
int64_t fi_clock_ticks_to_ns(uint64_t ticks);

/* [any] How many ticks so many nanoseconds last (0 for negative ones), UINT64_MAX when that does
 * not fit.  Calibrates as above. */
uint64_t fi_clock_ns_to_ticks(int64_t ns);

/* The arithmetic, free of clocks, so that it can be tested.
 *
 * A scale is nanoseconds per tick times 2^32: with counters from 1 MHz to 10 GHz, better than 1e-8.
 */
typedef struct fi_clock_reading {
    int64_t ns;
    uint64_t ticks;
} fi_clock_reading;

/* [any] The scale that two readings show; 0 when they cannot be right. */
uint64_t fi_clock_scale_measured(fi_clock_reading a, fi_clock_reading b);

/* [any] The scale of a counter of so many Hz; 0 for 0. */
uint64_t fi_clock_scale_of(uint64_t hz);

/* [any] Of the scale the hardware states (0: nothing) and the measured one (0: no sense in it), the
 * one to trust.  Never 0. */
uint64_t fi_clock_scale_choose(uint64_t stated, uint64_t measured);

/* [any] Both to the nearest: ns to ticks and back is the same where a tick is shorter than 1 ns,
 * and within a tick where it is longer. */
int64_t fi_clock_scale_to_ns(uint64_t ticks, uint64_t scale);
uint64_t fi_clock_scale_to_ticks(int64_t ns, uint64_t scale);

#endif
