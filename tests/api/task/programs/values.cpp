// C++ types that can be copied as bytes, also those with constructors.
#include <filch/filch.h>

#include <complex>
#include <cstdio>
#include <string_view>

struct point {
    int x = 1, y = 2;
};

FILCH_TASK(point, sum, point, p, point, q)
{
    point r;
    r.x = p.x + q.x;
    r.y = p.y + q.y;
    return r;
}

FILCH_TASK(std::complex<double>, square, std::complex<double>, z)
{
    return z * z;
}

FILCH_TASK(std::size_t, length, std::string_view, text)
{
    return text.size();
}

FILCH_TASK(int, all, int, n)
{
    FILCH_SPAWN(sum, point{}, point{});
    FILCH_SPAWN(square, std::complex<double>(0, n));
    FILCH_SPAWN(length, std::string_view("seven up").substr(0, 5));
    std::size_t l = FILCH_SYNC(length);
    std::complex<double> z = FILCH_SYNC(square);
    point p = FILCH_SYNC(sum);
    return static_cast<int>(l) + static_cast<int>(z.real()) + p.x + p.y;
}

int main()
{
    std::printf("%d\n", FILCH_RUN(all, 2));
    return 0;
}
