// Algorithms and groups, which also work in a serial build.
#include "cxx_test.hpp"

#include <filch/filch.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace
{

void loops()
{
    std::vector<std::atomic<int>> times(1000);

    filch::for_each(0, times.size(), [&](std::size_t i) { times[i]++; });
    filch::for_each(
        10, 20, [&](std::size_t i) { times[i]++; }, 3);
    filch::for_each(5, 5, [](std::size_t) { std::abort(); });
    for (std::size_t i = 0; i < times.size(); i++)
        CHECK(times[i] == (i >= 10 && i < 20 ? 2 : 1));
    // The range is so long that the test ends only if the exception stops the loop.
    CHECK_THROWS(mistake, filch::for_each(
                              0, SIZE_MAX,
                              [](std::size_t i) {
                                  if (i == 12345)
                                      THROW(mistake{1});
                              },
                              100));
}

void numbers()
{
    const auto inverse = [](std::size_t i) { return 1.0 / static_cast<double>(i + 1); };
    const double once = filch::reduce(0, 10000, 0.0, inverse, std::plus<>());
    static double first = once;

    CHECK(once > 9.787 && once < 9.788);
    CHECK(once == first); // to the last bit, with any number of workers
    CHECK(filch::reduce(
              0, 100, 0, [](std::size_t i) { return i; }, std::plus<>()) == 4950);
    CHECK(filch::reduce(
              3, 3, 7L, [](std::size_t i) { return i; }, std::plus<>()) == 7);
}

// Strings are not copied as bytes, and their order matters.
void strings()
{
    std::string expected;
    for (int i = 0; i < 300; i++)
        expected += std::to_string(i) + " and then ";
    CHECK(filch::reduce(
              0, 300, std::string(), [](std::size_t i) { return std::to_string(i) + " and then "; },
              [](std::string a, const std::string &b) { return std::move(a) + b; }) == expected);
    CHECK(filch::reduce(
              1, 0, std::string("none"), [](std::size_t) { return std::string(); },
              std::plus<>()) == "none");
    CHECK_THROWS(mistake, filch::reduce(
                              0, 300, std::string(),
                              [](std::size_t i) {
                                  if (i == 150)
                                      THROW(mistake{2});
                                  return std::string(100, 'x');
                              },
                              std::plus<>()));
    CHECK_THROWS(mistake,
                 filch::reduce(
                     0, 300, std::string(), [](std::size_t) { return std::string(100, 'x'); },
                     [](const std::string &a, const std::string &b) {
                         if (a.size() > 2000)
                             THROW(mistake{3});
                         return a + b;
                     }));
}

void sorts()
{
    std::vector<int> v(5000);
    std::vector<double> d(5000);
    struct pair {
        short key, value;
    };
    std::vector<pair> p(5000);

    for (std::size_t i = 0; i < v.size(); i++) {
        v[i] = static_cast<int>(i * 7919 % 5000) - 2500;
        d[i] = v[i] / 3.0;
        p[i] = {static_cast<short>(v[i]), 1};
    }
    filch::sort(v.data(), v.data() + v.size());
    filch::sort(d.data(), d.data() + d.size());
    filch::sort(p.data(), p.data() + p.size(),
                [](const pair &a, const pair &b) { return a.key > b.key; });
    CHECK(std::is_sorted(v.begin(), v.end()));
    CHECK(std::is_sorted(d.begin(), d.end()));
    CHECK(p.front().key == 2499 && p.back().key == -2500);
    CHECK_THROWS(mistake,
                 filch::sort(p.data(), p.data() + p.size(),
                             [](const pair &, const pair &) -> bool { THROW(mistake{4}); }));
}

void runs()
{
    int x = 1;
    CHECK(filch::run([] { return 42; }) == 42);
    CHECK(filch::run([] { return counted(5); }).value == 5);
    filch::run([&] { x = 2; });
    filch::run([&]() -> int & { return x; }) = 3;
    counted c(7);
    CHECK(counted(filch::run([&]() -> counted && { return std::move(c); })).value == 7);
    CHECK(c.value == -1);
    CHECK(x == 3);
    CHECK_THROWS(mistake, filch::run([] { THROW(mistake{5}); }));
}

void groups()
{
    std::atomic<int> sum{0};
    std::array<int, 1000> large{};
    large[999] = 10;
    {
        filch::group g;
        g.run([&] { sum += 1; });
        g.run([&sum, c = counted(100)] { sum += c.value; });
        g.run([&sum, large] { sum += large[999]; });
        g.wait();
        CHECK(sum == 111);
        for (int i = 0; i < 100; i++)
            g.run([&] { sum += 1; });
    } // the destructor waits
    CHECK(sum == 211);
}

#ifdef __cpp_exceptions
void groups_with_exceptions()
{
    filch::group g;
    std::atomic<int> calls{0};

    for (int i = 0; i < 20; i++)
        g.run([&, i] {
            calls++;
            if (i % 2 == 1)
                THROW(mistake{i});
        });
    CHECK_THROWS(mistake, g.wait());
    CHECK(calls == 20);
    g.wait(); // the exception is thrown once
    g.run([] { THROW(mistake{1}); });
} // the destructor drops the exception

// Members that a cancelled group drops are freed.
void cancelled_groups()
{
    filch::group g;

    g.cancel();
    CHECK(g.is_cancelled());
    for (int i = 0; i < 10; i++)
        g.run([c = counted(i)] { std::abort(); });
    CHECK(counted::live == 10);
    CHECK_THROWS(std::system_error, g.wait());
}
#endif

} // namespace

void test_algorithms()
{
    loops();
    numbers();
    strings();
    sorts();
    runs();
}

void test_groups()
{
    groups();
#ifdef __cpp_exceptions
    groups_with_exceptions();
    cancelled_groups();
#endif
}
