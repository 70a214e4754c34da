/* Two clocks: one for deadlines, and a cheap one for measuring.
 *
 * fi_clock_now is CLOCK_MONOTONIC in nanoseconds.  fi_clock_ticks reads the processor's counter if
 * that runs at one speed on all CPUs, and CLOCK_MONOTONIC otherwise.  fi_clock_ticks_to_ns converts
 * a difference of two tick values, not a tick value itself. */
#ifndef FI_BASE_CLOCK_H
#define FI_BASE_CLOCK_H

#include <stdint.h>

typedef enum fi_clock_kind {
    FI_CLOCK_MONOTONIC = 1, /* no reliable counter: a tick is a nanosecond */
    FI_CLOCK_TSC,           /* x86: RDTSCP */
    FI_CLOCK_CNTVCT,        /* ARM: the virtual counter */
} fi_clock_kind;

/* [any] Nanoseconds of CLOCK_MONOTONIC. */
int64_t fi_clock_now(void);

/* [any] Nanoseconds from now until a deadline.  0: it has passed.  INT64_MAX: the deadline is
 * INT64_MAX (never).  Users may pass any value, so only this function subtracts from a deadline. */
int64_t fi_clock_left(int64_t deadline_ns);

/* [any] The same as a timeout for poll(2) or epoll_wait(2): milliseconds, rounded up, at most
 * INT_MAX. -1: never. */
int fi_clock_left_ms(int64_t deadline_ns);

/* [any] Ticks of the counter.  Waits until all earlier instructions have executed. */
uint64_t fi_clock_ticks(void);

/* [any] The same without ordering: earlier instructions may still execute, and later ones may have
 * started.  Several times cheaper, and some tens of nanoseconds less exact. */
uint64_t fi_clock_ticks_unordered(void);

/* [any] The source of the ticks.  It does not change while the process runs. */
fi_clock_kind fi_clock_source(void);

/* [any] Ticks as nanoseconds, at most INT64_MAX.  The first call in a process calibrates the
 * counter, which takes about 2 ms. */
int64_t fi_clock_ticks_to_ns(uint64_t ticks);

/* [any] Nanoseconds as ticks, at most UINT64_MAX.  0 for negative ns.  Calibrates as above. */
uint64_t fi_clock_ns_to_ticks(int64_t ns);

typedef struct fi_clock_reading {
    int64_t ns;
    uint64_t ticks;
} fi_clock_reading;

/* [any] Read both clocks at the same time. */
fi_clock_reading fi_clock_read_both(void);

/* The arithmetic without clocks, so that it can be tested.
 *
 * A scale is nanoseconds per tick times 2^32.  For counters from 1 MHz to 10 GHz its relative error
 * is below 1e-8. */

/* [any] The scale from two readings.  0: the readings are inconsistent. */
uint64_t fi_clock_scale_measured(fi_clock_reading a, fi_clock_reading b);

/* [any] The scale of a counter of hz Hz.  0 for 0. */
uint64_t fi_clock_scale_of(uint64_t hz);

/* [any] Choose between the scale that the hardware states (0: none) and the measured one (0:
 * invalid). Never 0. */
uint64_t fi_clock_scale_choose(uint64_t stated, uint64_t measured);

/* [any] Both round to nearest.  ns to ticks and back gives the same ns if a tick is shorter than 1
 * ns, and is off by less than a tick otherwise. */
int64_t fi_clock_scale_to_ns(uint64_t ticks, uint64_t scale);
uint64_t fi_clock_scale_to_ticks(int64_t ns, uint64_t scale);

#endif
