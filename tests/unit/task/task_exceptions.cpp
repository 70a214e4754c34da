// C++ keeps the exceptions in flight per thread.  A fiber that parks inside a catch block and
// continues on another thread must find its own exceptions, not those of fibers that ran there
// meanwhile.
#include "base/compiler.h"
#include "lab_settings.h"

#include <filch/filch.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sched.h>
#include <string>

namespace
{

// Few rounds: every leaf calls sched_yield, which is slow on a busy machine.
const int rounds = FI_UNDER_ASAN || FI_UNDER_TSAN ? 8 : 40;

std::atomic<long> wrong{0};

void expect(bool ok)
{
    if (!ok)
        wrong++;
}

void spin(unsigned n)
{
    for (volatile unsigned i = 0; i < n; i = i + 1) {
    }
}

// Long enough that the waiter parks.
void yield_often()
{
    spin(3000);
    sched_yield();
}

struct Mistake {
    int depth, id;
};

// A destructor that runs while an exception is in flight sees that one, not those of other fibers.
struct Witness {
    int expected;
    explicit Witness(int n) : expected(n)
    {
    }
    ~Witness()
    {
        expect(std::uncaught_exceptions() == expected);
    }
};

FILCH_TASK_DECL(long, thrower, int, depth, int, id, int, caught);

// Syncs inside the catch block, where the caught exception is state of the thread.
FILCH_TASK_IMPL(long, thrower, int, depth, int, id, int, caught)
{
    long sum = 1;
    std::exception_ptr outer = std::current_exception();

    // A stolen task starts without exceptions.  A task that its sync runs is inside its spawner's
    // catch block.
    expect(std::uncaught_exceptions() == 0);
    expect(!outer || caught == 1);
    if (depth == 0) {
        yield_often();
        return 1;
    }
    FILCH_SPAWN(thrower, depth - 1, 2 * id, 1);
    FILCH_SPAWN(thrower, depth - 1, 2 * id + 1, 1);
    try {
        Witness w(1);
        throw Mistake{depth, id};
    } catch (const Mistake &m) {
        spin(100);
        sum += FILCH_SYNC(thrower);
        expect(m.depth == depth && m.id == id);
        try {
            throw; // the exception that this fiber caught
        } catch (const Mistake &again) {
            sum += FILCH_SYNC(thrower);
            expect(again.depth == depth && again.id == id && &again == &m);
        }
        expect(std::current_exception() != outer);
        expect(std::uncaught_exceptions() == 0);
    }
    expect(std::current_exception() == outer);
    return sum;
}

// Syncs in a destructor while an exception is in flight.
FILCH_TASK_DECL(long, unwinder, int, depth, int, in_flight);

struct Syncs {
    filch_task_bounds_ *filch_self_;
    char *&filch_top_;
    long *sum;
    int in_flight;
    ~Syncs()
    {
        expect(std::uncaught_exceptions() == in_flight);
        *sum += FILCH_SYNC(unwinder);
        expect(std::uncaught_exceptions() == in_flight);
    }
};

FILCH_TASK_IMPL(long, unwinder, int, depth, int, in_flight)
{
    long sum = 1;
    int before = std::uncaught_exceptions();

    // None if stolen.  If its spawner's sync runs it, that is before or during the throw.
    expect(before == 0 || before == in_flight - 1 || before == in_flight);
    if (depth == 0) {
        yield_often();
        return 1;
    }
    FILCH_SPAWN(unwinder, depth - 1, before + 1);
    FILCH_SPAWN(unwinder, depth - 1, before + 1);
    spin(100);
    sum += FILCH_SYNC(unwinder);
    try {
        [[maybe_unused]] Syncs s{filch_self_, filch_top_, &sum, before + 1};
        throw std::string("on the way");
    } catch (const std::string &text) {
        expect(text == "on the way");
    }
    return sum;
}

void check(bool ok, const char *what, unsigned workers)
{
    if (ok)
        return;
    std::fprintf(stderr, "%s, with %u workers (%ld failures)\n", what, workers, wrong.load());
    std::exit(1);
}

void run(unsigned workers, const char *publish, int depth)
{
    filch_config c = {};
    lab_settings lab = {};
    long nodes = (2L << depth) - 1;

    c.workers = workers;
    lab.publish = publish;
    set_lab_settings(lab);
    check(filch_start(&c) == 0, "filch_start failed", workers);
    for (int i = 0; i < rounds; i++) {
        check(FILCH_RUN(thrower, depth, 1, 0) == nodes, "wrong number of tasks", workers);
        check(FILCH_RUN(unwinder, 7, 0) == 255, "wrong number of tasks", workers);
    }
    filch_stats s;
    check(filch_stats_get(&s) == 0, "filch_stats_get failed", workers);
    std::printf("%u workers: %llu parks\n", workers,
                static_cast<unsigned long long>(s.total.parks));
    check(filch_stop() == 0, "filch_stop failed", workers);
    check(wrong == 0, "a fiber saw an exception of another fiber, or lost its own", workers);
}

} // namespace

int main()
{
    for (unsigned workers : {1U, 2U, 4U, 8U}) {
        run(workers, "lazy", 9);
        run(workers, "eager", 9);
    }
    return 0;
}
