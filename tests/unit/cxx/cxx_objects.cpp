// Locks, channels and fibers.
#include "cxx_test.hpp"

#include <filch/filch.hpp>

#include <limits>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace
{

void mutexes()
{
    filch::mutex m, other;
    int n = 0;

    filch::for_each(
        0, 200,
        [&](std::size_t) {
            std::lock_guard<filch::mutex> lock(m);
            n++;
        },
        1);
    CHECK(n == 200);
    std::scoped_lock both(m, other);
    CHECK(!m.try_lock() && !m.try_lock_for(1ns) &&
          !m.try_lock_until(std::chrono::system_clock::now()));
    CHECK(m.native_handle() != other.native_handle());
}

// Times that do not fit into 64 bits of nanoseconds.
template <class Clock> void extreme_times_of_clock(filch::mutex &locked)
{
    using time = typename Clock::time_point;
    using hours = std::chrono::time_point<Clock, std::chrono::hours>;
    using seconds = std::chrono::time_point<Clock, std::chrono::duration<double>>;

    CHECK(!locked.try_lock_until(time::min()));
    CHECK(!locked.try_lock_until(time()));
    CHECK(!locked.try_lock_until(hours::min()));
    CHECK(!locked.try_lock_until(seconds::min()));
    CHECK(filch::detail::deadline_at(time::max()) == FILCH_FOREVER);
    CHECK(filch::detail::deadline_at(hours::max()) == FILCH_FOREVER);
    CHECK(filch::detail::deadline_at(seconds::max()) == FILCH_FOREVER);
}

void extreme_times()
{
    using namespace std::chrono;
    using filch::detail::deadline_after;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    filch::mutex m;

    m.lock();
    extreme_times_of_clock<steady_clock>(m);
    extreme_times_of_clock<system_clock>(m);
    CHECK(!m.try_lock_for(nanoseconds::min()) && !m.try_lock_for(hours::min()));
    CHECK(!m.try_lock_for(-1ns) && !m.try_lock_for(-1000h) && !m.try_lock_for(0s));
    CHECK(!m.try_lock_for(duration<double>(-1e300)) && !m.try_lock_for(duration<double>(nan)));
    CHECK(deadline_after(nanoseconds::max()) == FILCH_FOREVER);
    CHECK(deadline_after(hours::max()) == FILCH_FOREVER);
    CHECK(deadline_after(duration<double>(1e300)) == FILCH_FOREVER);
    CHECK(deadline_after(24h) < FILCH_FOREVER && deadline_after(24h) > filch_now());
    m.unlock();
    filch::sleep_until(steady_clock::time_point::min());
    filch::sleep_for(hours::min());
}

void shared_mutexes()
{
    filch::shared_mutex m;
    {
        std::shared_lock<filch::shared_mutex> a(m), b(m);
        CHECK(!m.try_lock() && !m.try_lock_for(1ns));
    }
    std::unique_lock<filch::shared_mutex> lock(m, 1h);
    CHECK(lock.owns_lock());
    CHECK(!m.try_lock_shared() && !m.try_lock_shared_until(std::chrono::steady_clock::now()));
}

void condition_variables()
{
    filch::mutex m;
    filch::condition_variable c;
    bool ready = false;
    filch::fiber setter([&] {
        std::lock_guard<filch::mutex> lock(m);
        ready = true;
        c.notify_all();
    });
    std::unique_lock<filch::mutex> lock(m);

    c.wait(lock, [&] { return ready; });
    CHECK(c.wait_for(lock, 1us) == std::cv_status::timeout);
    CHECK(!c.wait_for(lock, 1us, [] { return false; }));
    CHECK(c.wait_for(lock, std::chrono::hours::max(), [&] { return ready; }));
    CHECK(c.wait_until(lock, std::chrono::system_clock::now(), [&] { return ready; }));
}

void channels()
{
    filch::channel<int> c(16);
    filch::channel<std::unique_ptr<std::string>> strings;
    int sum = 0;
    std::size_t length = 0;
    filch::fiber sender([&] {
        for (int i = 0; i < 100; i++)
            CHECK(c.send(i));
        c.close();
        CHECK(!c.send(1));
        for (int i = 0; i < 100; i++)
            strings.send(std::make_unique<std::string>(100, 'x'));
        strings.close();
    });

    for (int &i : c)
        sum += i;
    CHECK(sum == 4950);
    CHECK(!c.recv());
    for (auto &s : strings)
        length += s->size();
    CHECK(length == 10000);
    sender.join();
}

// Values that are not received are freed, and those that are not sent, too.
void left_values()
{
    filch::channel<counted> c(4);

    for (int i = 0; i < 4; i++)
        CHECK(c.try_send(counted(i)));
    CHECK(!c.try_send(counted(4)) && !c.try_send_for(counted(4), 1us));
    CHECK(c.size() == 4 && c.capacity() == 4 && counted::live == 4);
    CHECK(c.recv()->value == 0);
    CHECK(c.try_recv()->value == 1);
    CHECK(c.try_recv_for(1h)->value == 2);
    CHECK(counted::live == 1);
    c.close();
    CHECK(!c.send(counted(9)));
}

struct no_default {
    int value;
    explicit no_default(int v) : value(v)
    {
    }
};

void fibers()
{
    int sum = 0;
    filch::fiber empty;
    filch::fiber a([&](int x, counted c) { sum += x + c.value; }, 1, counted(20));
    filch::fiber b = std::move(a);
    filch::channel<no_default> c(1);

    CHECK(!empty.joinable() && b.joinable());
    b.join();
    CHECK(!b.joinable() && sum == 21);
    b = filch::fiber([&] { c.send(no_default(7)); });
    b.detach();
    CHECK(c.recv()->value == 7);
    {
        filch::fiber d([&] {
            filch::yield();
            filch::sleep_for(1us);
            filch::sleep_until(std::chrono::steady_clock::now() + 1us);
            sum = 3;
        });
    } // the destructor joins
    CHECK(sum == 3);
}

#ifdef __cpp_exceptions
void fibers_with_exceptions()
{
    filch::fiber a([] { throw mistake{3}; });
    filch::fiber b([] { throw mistake{4}; }); // dropped by the destructor

    try {
        a.join();
        CHECK(false);
    } catch (const mistake &m) {
        CHECK(m.id == 3);
    }
    CHECK(!a.joinable());
}

// Waits of a cancelled fiber throw.  Destructors wait all the same.
void cancelled_fibers()
{
    filch::channel<int> never;
    filch::fiber waiter([&] { never.recv(); });
    std::atomic<bool> ended{false};
    filch::fiber parent([&] {
        filch::fiber child([&] {
            CHECK_THROWS(std::system_error, never.recv());
            ended = true;
        });
        filch_fiber_cancel(filch_fiber_self());
        CHECK_THROWS(std::system_error, filch::sleep_for(1h));
        CHECK_THROWS(std::system_error, child.join());
        child.cancel();
    });

    waiter.cancel();
    CHECK_THROWS(std::system_error, waiter.join());
    parent.join();
    CHECK(ended);
}

// Without memory, calls throw, and nothing is leaked.
void without_memory()
{
    filch::group g;
    std::atomic<bool> may_end{false};

    refuse_memory = true;
    CHECK_THROWS(std::bad_alloc, filch::channel<int>(1000));
    CHECK_THROWS(std::bad_alloc, {
        for (;;)
            g.run([&may_end, c = counted(1)] {
                while (!may_end)
                    filch::yield();
            });
    });
    may_end = true;
    CHECK_THROWS(std::bad_alloc, g.wait());
    refuse_memory = false;
    CHECK(counted::live == 0);
}

// A waiter may be inside a catch block.
void waits_in_catch_blocks()
{
    filch::group g;

    for (int i = 0; i < 20; i++)
        g.run([i] {
            try {
                throw mistake{i};
            } catch (const mistake &m) {
                filch::sleep_for(10us);
                CHECK(m.id == i);
                throw;
            }
        });
    CHECK_THROWS(mistake, g.wait());
}
#endif

void from_threads()
{
    std::vector<std::thread> threads;
    std::atomic<int> sum{0};

    threads.reserve(3);
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] {
            for (int k = 0; k < 20; k++)
                filch::for_each(0, 10, [&](std::size_t) { sum++; });
        });
    for (auto &t : threads)
        t.join();
    CHECK(sum == 600);
}

} // namespace

void test_objects()
{
    mutexes();
    extreme_times();
    shared_mutexes();
    condition_variables();
    channels();
    left_values();
    fibers();
#ifdef __cpp_exceptions
    fibers_with_exceptions();
    cancelled_fibers();
    waits_in_catch_blocks();
    without_memory();
#endif
    from_threads();
}
