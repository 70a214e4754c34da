/* C++ keeps the exceptions in flight per thread; a fiber that parks inside a catch block and goes on
 * elsewhere must take its own along.  Where no C++ library is linked all this is nothing. */
#ifndef FI_SCHED_CXX_EXCEPTIONS_H
#define FI_SCHED_CXX_EXCEPTIONS_H

/* The two words behind __cxa_get_globals, as the Itanium C++ ABI lays them down. */
typedef struct fi_cxx_exceptions {
    void *caught;
    unsigned uncaught;
} fi_cxx_exceptions;

/* [any] Those of the calling thread; NULL without C++. */
fi_cxx_exceptions *fi_cxx_exceptions_of_thread(void);

/* [worker] Keep the thread's state in *save and give it that of *load. */
static inline void fi_cxx_exceptions_swap(fi_cxx_exceptions *thread, fi_cxx_exceptions *save,
                                          const fi_cxx_exceptions *load)
{
    if (thread) {
        *save = *thread;
        *thread = *load;
    }
}

#endif
