/* The C++ exception state of fibers.  C++ keeps the exceptions in flight per thread.  A fiber that
 * parks inside a catch block and continues on another thread must take its own state along.
 * Without a C++ library these functions do nothing. */
#ifndef FI_SCHED_CXX_EXCEPTIONS_H
#define FI_SCHED_CXX_EXCEPTIONS_H

/* The two words behind __cxa_get_globals, as the Itanium C++ ABI defines them. */
typedef struct fi_cxx_exceptions {
    void *caught;
    unsigned uncaught;
} fi_cxx_exceptions;

/* [any] The state of the calling thread; NULL without C++. */
fi_cxx_exceptions *fi_cxx_exceptions_of_thread(void);

/* [worker] Save the thread's state in *save, and load that of *load. */
static inline void fi_cxx_exceptions_swap(fi_cxx_exceptions *thread, fi_cxx_exceptions *save,
                                          const fi_cxx_exceptions *load)
{
    if (thread) {
        *save = *thread;
        *thread = *load;
    }
}

#endif
