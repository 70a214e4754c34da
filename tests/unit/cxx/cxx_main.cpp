// <filch/filch.hpp> with 1, 2 and 4 workers.
#include "cxx_test.hpp"

#include <filch/filch.h>

#ifndef FILCH_SERIAL
static void *get(void *, std::size_t size, std::size_t align)
{
    return refuse_memory ? nullptr : std::aligned_alloc(align, (size + align - 1) / align * align);
}

static void put(void *, void *ptr, std::size_t, std::size_t)
{
    std::free(ptr);
}
#endif

int main()
{
#ifndef FILCH_SERIAL
    const filch_allocator allocator = {get, put, nullptr};
    CHECK(filch_set_allocator(&allocator) == 0);
#endif
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        filch_config config = {};
        config.workers = workers;
        CHECK(filch_start(&config) == 0);
        test_algorithms();
        test_groups();
#ifndef FILCH_SERIAL
        test_objects();
#endif
        CHECK(filch_stop() == 0);
        CHECK(counted::live == 0);
    }
    std::puts("passed");
    return 0;
}
