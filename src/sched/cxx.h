/* C++ keeps the exceptions in flight per thread; a fiber that parks inside a catch block and goes on
 * elsewhere must take its own along.  Where no C++ library is linked all this is nothing. */
#ifndef FI_SCHED_CXX_H
#define FI_SCHED_CXX_H

/* The two words behind __cxa_get_globals, as the Itanium C++ ABI lays them down. */
typedef struct fi_cxx {
    void *caught;
    unsigned uncaught;
} fi_cxx;

/* [any] Those of the calling thread; NULL without C++. */
fi_cxx *fi_cxx_of_thread(void);

/* [worker] Keep the thread's state in *save and give it that of *load. */
static inline void fi_cxx_swap(fi_cxx *thread, fi_cxx *save, const fi_cxx *load)
{
    if (thread) {
        *save = *thread;
        *thread = *load;
    }
}

#endif
