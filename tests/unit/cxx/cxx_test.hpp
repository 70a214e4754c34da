// Assertions of the tests of <filch/filch.hpp>.
#ifndef TESTS_UNIT_CXX_TEST_HPP
#define TESTS_UNIT_CXX_TEST_HPP

#include <atomic>
#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                                           \
    ((condition) ? (void)0                                                                         \
                 : (std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition), \
                    std::exit(1)))

// The expression throws an exception of this type.  Without exceptions, it is not evaluated.
#ifdef __cpp_exceptions
#define CHECK_THROWS(type, ...)                                                                    \
    do {                                                                                           \
        bool thrown = false;                                                                       \
        try {                                                                                      \
            __VA_ARGS__;                                                                           \
        } catch (const type &) {                                                                   \
            thrown = true;                                                                         \
        }                                                                                          \
        CHECK(thrown);                                                                             \
    } while (0)
#define THROW(x) throw x
#else
#define CHECK_THROWS(type, ...) (void)0
#define THROW(x)                std::abort()
#endif

// Counts its objects, and can only be moved.
struct counted {
    static inline std::atomic<long> live{0};
    int value;
    explicit counted(int v) : value(v)
    {
        live++;
    }
    counted(counted &&other) noexcept : value(other.value)
    {
        other.value = -1;
        live++;
    }
    counted &operator=(counted &&other) noexcept
    {
        value = other.value;
        other.value = -1;
        return *this;
    }
    ~counted()
    {
        live--;
    }
};

struct mistake {
    int id;
};

// The library gets no memory while this is true.
inline std::atomic<bool> refuse_memory{false};

void test_algorithms();
void test_groups();
void test_objects();

#endif
