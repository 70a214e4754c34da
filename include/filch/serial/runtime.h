/* The runtime of a serial build (FILCH_SERIAL): the calling thread is the only worker.
 * <filch/runtime.h> includes this file. */
#ifndef FILCH_SERIAL_RUNTIME_H
#define FILCH_SERIAL_RUNTIME_H

/* The number of holds of filch_start.  Weak, so that all files of a program share it. */
extern unsigned long filch_serial_holds_;
__attribute__((weak, visibility("hidden"))) unsigned long filch_serial_holds_;

/* Returns: 0: this is the only hold; 1: there are others. */
static inline int filch_start(const filch_config *config)
{
    (void)config;
    return __atomic_fetch_add(&filch_serial_holds_, 1, __ATOMIC_RELAXED) > 0;
}

/* Returns: 0: there is no hold now; 1: there are others. */
static inline int filch_stop(void)
{
    unsigned long n = __atomic_load_n(&filch_serial_holds_, __ATOMIC_RELAXED);

    while (n > 0 && !__atomic_compare_exchange_n(&filch_serial_holds_, &n, n - 1, 1,
                                                 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return n > 1;
}

static inline unsigned filch_worker_count(void)
{
    return 1;
}

static inline int filch_worker_index(void)
{
    return 0;
}

static inline unsigned filch_cpu_count(void)
{
    return 1;
}

#endif
