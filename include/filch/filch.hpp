/* Filch for C++17: header only, over the same C library.
 *
 *     #include <filch/filch.hpp>
 *     #include <cstdio>
 *     #include <vector>
 *
 *     int main()
 *     {
 *         std::vector<double> x(1000, 2.0), y(1000, 1.0);
 *         filch::for_each(0, x.size(), [&](std::size_t i) { y[i] += 3 * x[i]; });
 *         double sum = filch::reduce(
 *             0, y.size(), 0.0, [&](std::size_t i) { return y[i]; }, std::plus<>());
 *         filch::channel<double> c(1);
 *         filch::group g;
 *         g.run([&] { c.send(sum); });
 *         g.wait();
 *         std::printf("%g\n", c.recv().value());
 *         return sum == 7000 ? 0 : 1;
 *     }
 *
 * An exception that leaves a callable is rethrown by the call that waits for it: for_each, reduce,
 * sort, run, group::wait, fiber::join.  Of several, the first one is rethrown.
 * An error of the C library is thrown as std::system_error, for example errc::operation_canceled in
 * a wait of a cancelled fiber, or as std::bad_alloc.  With -fno-exceptions it calls std::terminate.
 *
 * With FILCH_SERIAL, for_each, reduce, sort, run and group work without the library.
 */
#ifndef FILCH_FILCH_HPP
#define FILCH_FILCH_HPP

#include <filch/filch.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace filch
{

/* ---- errors and exceptions ---- */

namespace detail
{

[[noreturn]] inline void throw_error(int e)
{
#ifdef __cpp_exceptions
    if (e == -ENOMEM)
        throw std::bad_alloc();
    throw std::system_error(-e, std::generic_category(), "filch");
#else
    (void)e;
    std::terminate();
#endif
}

/* Returns: e, which is not negative. */
inline int check(int e)
{
    if (e < 0)
        throw_error(e);
    return e;
}

/* Keeps the first exception of several callables, which may run at the same time. */
class first_exception
{
  public:
    /* Call f.  Returns: false if an exception left it. */
    template <class F> bool call(F &&f) noexcept
    {
#ifdef __cpp_exceptions
        try {
            f();
            return true;
        } catch (...) {
            if (!has_one_.exchange(true, std::memory_order_relaxed))
                exception_ = std::current_exception();
            return false;
        }
#else
        f();
        return true;
#endif
    }

    bool has_one() const noexcept
    {
        return has_one_.load(std::memory_order_relaxed);
    }

    /* All callables have returned.  Forget the exception, and rethrow it if there is one. */
    void rethrow()
    {
#ifdef __cpp_exceptions
        if (has_one_.exchange(false, std::memory_order_relaxed))
            std::rethrow_exception(std::exchange(exception_, nullptr));
#endif
    }

    /* Move the exception of other here. */
    void take(first_exception &other) noexcept
    {
        has_one_ = other.has_one_.exchange(false, std::memory_order_relaxed);
        exception_ = std::exchange(other.exception_, nullptr);
    }

  private:
    std::atomic<bool> has_one_{false};
    std::exception_ptr exception_{};
};

/* In double, which does not overflow. */
template <class Rep, class Period>
double approximate_ns(const std::chrono::duration<Rep, Period> &d)
{
    return std::chrono::duration<double, std::nano>(d).count();
}

/* A time that is too far away for the C library is never. */
template <class Rep, class Period>
std::int64_t deadline_after(const std::chrono::duration<Rep, Period> &d)
{
    using std::chrono::nanoseconds;
    const std::int64_t now = filch_now();

    if (!(d > d.zero()))
        return now;
    if (approximate_ns(d) >= 9e18 - static_cast<double>(now))
        return FILCH_FOREVER;
    return now + static_cast<std::int64_t>(std::chrono::ceil<nanoseconds>(d).count());
}

/* The difference to now is computed only if it fits into 64 bits of nanoseconds. */
template <class Clock, class Duration>
std::int64_t deadline_at(const std::chrono::time_point<Clock, Duration> &t)
{
    const double at = approximate_ns(t.time_since_epoch());
    const auto now = Clock::now();

    if (at >= 9e18)
        return FILCH_FOREVER;
    if (!(at - approximate_ns(now.time_since_epoch()) > -1e18))
        return filch_now();
    return deadline_after(t - now);
}

/* Returns: false if the deadline has passed. */
inline bool in_time(int e)
{
    return e != -ETIMEDOUT && (check(e), true);
}

} // namespace detail

/* ---- algorithms ---- */

/* Call f(i) for each i from lo to hi, in parallel.  After an exception no more parts of the range
 * are started.
 * grain: the maximum number of elements of a part; 0 lets Filch choose. */
template <class F> void for_each(std::size_t lo, std::size_t hi, F &&f, std::size_t grain = 0)
{
    struct loop {
        std::remove_reference_t<F> *f;
        detail::first_exception exception;
    } l{std::addressof(f), {}};

    filch_for_fallible(
        lo, hi, grain,
        [](std::size_t first, std::size_t last, void *ctx) {
            auto *c = static_cast<loop *>(ctx);
            return c->exception.call([&] {
                for (; first < last; first++)
                    std::invoke(*c->f, first);
            })
                       ? 0
                       : 1;
        },
        &l);
    l.exception.rethrow();
}

namespace detail
{

/* What filch_reduce copies as bytes: a T, or where that is not allowed, a pointer to one. */
template <class T> class accumulator
{
    static constexpr bool is_direct =
        std::is_trivially_copyable_v<T> && sizeof(T) <= FILCH_REDUCE_MAX && alignof(T) <= 64;

  public:
    using type = std::conditional_t<is_direct, T, T *>;

    static type identity(const T &value)
    {
        if constexpr (is_direct)
            return value;
        else
            return nullptr;
    }

    static T &get(type &a, const T &identity)
    {
        if constexpr (is_direct) {
            (void)identity;
            return a;
        } else {
            if (!a)
                a = new T(identity);
            return *a;
        }
    }

    static void drop(type &a) noexcept
    {
        if constexpr (!is_direct)
            delete std::exchange(a, nullptr);
    }
};

template <class T, class Map, class Op> struct reduction {
    using cell = accumulator<T>;
    using acc = typename cell::type;

    const T &identity;
    Map &map;
    Op &op;
    first_exception exception;

    void append(T &to, T &&value)
    {
        to = static_cast<T>(std::invoke(op, std::move(to), std::move(value)));
    }

    static int map_part(std::size_t lo, std::size_t hi, void *a, void *ctx)
    {
        auto *r = static_cast<reduction *>(ctx);

        if (r->exception.has_one())
            return 1;
        return r->exception.call([&] {
            T &to = cell::get(*static_cast<acc *>(a), r->identity);
            for (; lo < hi; lo++)
                r->append(to, static_cast<T>(std::invoke(r->map, lo)));
        })
                   ? 0
                   : 1;
    }

    static void combine(void *a, const void *other, void *ctx)
    {
        auto *r = static_cast<reduction *>(ctx);
        auto &from = *static_cast<acc *>(const_cast<void *>(other));

        r->exception.call([&] {
            r->append(cell::get(*static_cast<acc *>(a), r->identity),
                      std::move(cell::get(from, r->identity)));
        });
        cell::drop(from);
    }

    static void drop(void *a, void *)
    {
        cell::drop(*static_cast<acc *>(a));
    }
};

} // namespace detail

/* Combine map(i) of each i from lo to hi with op, in parallel, in the order of the elements.  The
 * result is the same, to the last bit, for any number of workers.
 * identity: op(identity, x) is x. */
template <class T, class Map, class Op>
T reduce(std::size_t lo, std::size_t hi, T identity, Map &&map, Op &&op, std::size_t grain = 0)
{
    using work = detail::reduction<T, std::remove_reference_t<Map>, std::remove_reference_t<Op>>;
    using cell = typename work::cell;
    const auto none = cell::identity(identity);
    struct holder {
        typename work::acc acc;
        ~holder()
        {
            cell::drop(acc);
        }
    } result{none};
    work w{identity, map, op, {}};

    filch_reduce_fallible(lo, hi, grain, &result.acc, &none, sizeof none, work::map_part,
                          work::combine, work::drop, &w);
    w.exception.rethrow();
    return std::move(cell::get(result.acc, identity));
}

/* Sort the elements from first to last, in parallel.  Equal elements may change their order.
 * Numbers with the default order are sorted by radix. */
template <class T, class Less = std::less<>> void sort(T *first, T *last, Less less = Less())
{
    static_assert(std::is_trivially_copyable_v<T>, "elements are moved as bytes");
    static_assert(alignof(T) <= 64, "copies are aligned to 64 bytes");
    struct order {
        Less *less;
        detail::first_exception exception;
    } o{std::addressof(less), {}};
    int (*compare)(const void *, const void *, void *) = [](const void *a, const void *b,
                                                            void *ctx) {
        auto *c = static_cast<order *>(ctx);
        const T &x = *static_cast<const T *>(a), &y = *static_cast<const T *>(b);
        int result = 0;
        c->exception.call([&] { result = (*c->less)(x, y) ? -1 : (*c->less)(y, x) ? 1 : 0; });
        return result;
    };

    if constexpr (std::is_same_v<Less, std::less<>>) {
        if constexpr (std::is_same_v<T, float>)
            compare = filch_compare_float;
        else if constexpr (std::is_same_v<T, double>)
            compare = filch_compare_double;
        else if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
            compare = std::is_signed_v<T> ? filch_compare_int32 : filch_compare_uint32;
        else if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
            compare = std::is_signed_v<T> ? filch_compare_int64 : filch_compare_uint64;
    }
    detail::check(
        filch_sort(first, static_cast<std::size_t>(last - first), sizeof(T), compare, &o));
    o.exception.rethrow();
}

/* Call f on the workers, and get its result.  In a fiber this is a plain call. */
template <class F> std::invoke_result_t<F> run(F &&f)
{
    using result = std::invoke_result_t<F>;
    constexpr bool is_void = std::is_void_v<result>;
    using stored = std::conditional_t<
        is_void, char,
        std::conditional_t<std::is_reference_v<result>, std::remove_reference_t<result> *, result>>;
    struct call {
        std::remove_reference_t<F> *f;
        std::optional<stored> value;
        detail::first_exception exception;
    } c{std::addressof(f), {}, {}};
    void (*const function)(void *) = [](void *ctx) {
        auto *p = static_cast<call *>(ctx);
        p->exception.call([&] {
            if constexpr (is_void) {
                std::invoke(std::forward<F>(*p->f));
            } else if constexpr (std::is_reference_v<result>) {
                auto &&referred = std::invoke(std::forward<F>(*p->f)); /* also an rvalue */
                p->value = std::addressof(referred);
            } else {
                p->value.emplace(std::invoke(std::forward<F>(*p->f)));
            }
        });
    };

    filch_invoke_with_(&c, &function, 1);
    c.exception.rethrow();
    if constexpr (is_void)
        return;
    else if constexpr (std::is_reference_v<result>)
        return static_cast<result>(**c.value);
    else
        return std::move(*c.value);
}

/* ---- groups ---- */

/* Callables that run in parallel and are waited for together.  The destructor waits, and drops an
 * exception. */
class group
{
  public:
    group() = default;
    group(const group &) = delete;
    group &operator=(const group &) = delete;
    ~group()
    {
        filch_group_wait(&group_);
        free_dropped();
    }

    /* Run f on a worker. */
    template <class F> void run(F &&f)
    {
        auto *m = new callable<std::decay_t<F>>(this, std::forward<F>(f));
        int e;

        link(m);
        e = filch_group_run(
            &group_, [](void *arg) { static_cast<member *>(arg)->run_and_free(); }, m);
        if (e < 0) {
            unlink(m);
            delete m;
            detail::check(e);
        }
    }

    /* Wait for all callables, and rethrow the first exception of them.  If the group was cancelled,
     * and there is no exception, throw errc::operation_canceled. */
    void wait()
    {
        const int e = filch_group_wait(&group_);

        free_dropped();
        exception_.rethrow();
        detail::check(e);
    }

    /* Do not start callables that have not started.  In those that run, a cancellable wait throws
     * errc::operation_canceled, now and later. */
    void cancel() noexcept
    {
        filch_group_cancel(&group_);
    }

    bool is_cancelled() const noexcept
    {
        return filch_group_is_cancelled(&group_);
    }

    filch_group *native_handle() noexcept
    {
        return &group_;
    }

  private:
    /* In a list, so that the callables of dropped members are freed. */
    struct member {
        explicit member(group *g) : owner(g)
        {
        }
        member(const member &) = delete;
        member &operator=(const member &) = delete;
        virtual ~member() = default;
        virtual void call() = 0;
        void run_and_free()
        {
            group *g = owner;

            g->exception_.call([this] { call(); });
            g->unlink(this);
            delete this;
        }
        group *owner;
        member *next = nullptr, *previous = nullptr;
    };

    template <class F> struct callable final : member {
        template <class G> callable(group *g, G &&f) : member(g), function(std::forward<G>(f))
        {
        }
        void call() override
        {
            std::invoke(std::move(function));
        }
        F function;
    };

    void link(member *m)
    {
        std::lock_guard<std::mutex> lock(mutex_);

        m->next = members_;
        if (members_)
            members_->previous = m;
        members_ = m;
    }

    void unlink(member *m)
    {
        std::lock_guard<std::mutex> lock(mutex_);

        (m->previous ? m->previous->next : members_) = m->next;
        if (m->next)
            m->next->previous = m->previous;
    }

    /* All members that started have ended. */
    void free_dropped()
    {
        while (member *m = members_) {
            members_ = m->next;
            delete m;
        }
    }

    filch_group group_ = FILCH_GROUP_INIT;
    detail::first_exception exception_{};
    std::mutex mutex_{}; /* held for a few instructions */
    member *members_ = nullptr;
};

/* ---- locks ---- */

/* For std::lock_guard, std::unique_lock and std::scoped_lock.  A fiber that waits parks. */
class mutex
{
  public:
    constexpr mutex() noexcept = default;
    mutex(const mutex &) = delete;
    mutex &operator=(const mutex &) = delete;

    void lock()
    {
        filch_mutex_lock(&mutex_);
    }
    bool try_lock()
    {
        return filch_mutex_try_lock(&mutex_) == 0;
    }
    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period> &d)
    {
        return detail::in_time(filch_mutex_lock_until(&mutex_, detail::deadline_after(d)));
    }
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration> &t)
    {
        return detail::in_time(filch_mutex_lock_until(&mutex_, detail::deadline_at(t)));
    }
    void unlock()
    {
        filch_mutex_unlock(&mutex_);
    }
    filch_mutex *native_handle() noexcept
    {
        return &mutex_;
    }

  private:
    filch_mutex mutex_{};
};

/* For std::shared_lock and std::unique_lock. */
class shared_mutex
{
  public:
    constexpr shared_mutex() noexcept = default;
    shared_mutex(const shared_mutex &) = delete;
    shared_mutex &operator=(const shared_mutex &) = delete;

    void lock()
    {
        filch_rwlock_wrlock(&lock_);
    }
    bool try_lock()
    {
        return filch_rwlock_try_wrlock(&lock_) == 0;
    }
    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period> &d)
    {
        return detail::in_time(filch_rwlock_wrlock_until(&lock_, detail::deadline_after(d)));
    }
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration> &t)
    {
        return detail::in_time(filch_rwlock_wrlock_until(&lock_, detail::deadline_at(t)));
    }
    void unlock()
    {
        filch_rwlock_wrunlock(&lock_);
    }
    void lock_shared()
    {
        filch_rwlock_rdlock(&lock_);
    }
    bool try_lock_shared()
    {
        return filch_rwlock_try_rdlock(&lock_) == 0;
    }
    template <class Rep, class Period>
    bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &d)
    {
        return detail::in_time(filch_rwlock_rdlock_until(&lock_, detail::deadline_after(d)));
    }
    template <class Clock, class Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &t)
    {
        return detail::in_time(filch_rwlock_rdlock_until(&lock_, detail::deadline_at(t)));
    }
    void unlock_shared()
    {
        filch_rwlock_rdunlock(&lock_);
    }
    filch_rwlock *native_handle() noexcept
    {
        return &lock_;
    }

  private:
    filch_rwlock lock_{};
};

/* A condition variable for filch::mutex.  In a cancelled fiber, the waits throw
 * errc::operation_canceled, with the mutex locked. */
class condition_variable
{
  public:
    constexpr condition_variable() noexcept = default;
    condition_variable(const condition_variable &) = delete;
    condition_variable &operator=(const condition_variable &) = delete;

    void notify_one() noexcept
    {
        filch_cond_signal(&cond_);
    }
    void notify_all() noexcept
    {
        filch_cond_broadcast(&cond_);
    }
    void wait(std::unique_lock<mutex> &lock)
    {
        detail::check(filch_cond_wait(&cond_, lock.mutex()->native_handle()));
    }
    template <class Predicate> void wait(std::unique_lock<mutex> &lock, Predicate predicate)
    {
        while (!predicate())
            wait(lock);
    }
    template <class Clock, class Duration>
    std::cv_status wait_until(std::unique_lock<mutex> &lock,
                              const std::chrono::time_point<Clock, Duration> &t)
    {
        return wait_deadline(lock, detail::deadline_at(t)) ? std::cv_status::no_timeout
                                                           : std::cv_status::timeout;
    }
    template <class Clock, class Duration, class Predicate>
    bool wait_until(std::unique_lock<mutex> &lock,
                    const std::chrono::time_point<Clock, Duration> &t, Predicate predicate)
    {
        return wait_deadline(lock, detail::deadline_at(t), predicate);
    }
    template <class Rep, class Period>
    std::cv_status wait_for(std::unique_lock<mutex> &lock,
                            const std::chrono::duration<Rep, Period> &d)
    {
        return wait_deadline(lock, detail::deadline_after(d)) ? std::cv_status::no_timeout
                                                              : std::cv_status::timeout;
    }
    template <class Rep, class Period, class Predicate>
    bool wait_for(std::unique_lock<mutex> &lock, const std::chrono::duration<Rep, Period> &d,
                  Predicate predicate)
    {
        return wait_deadline(lock, detail::deadline_after(d), predicate);
    }
    filch_cond *native_handle() noexcept
    {
        return &cond_;
    }

  private:
    bool wait_deadline(std::unique_lock<mutex> &lock, std::int64_t deadline)
    {
        return detail::in_time(
            filch_cond_wait_until(&cond_, lock.mutex()->native_handle(), deadline));
    }
    template <class Predicate>
    bool wait_deadline(std::unique_lock<mutex> &lock, std::int64_t deadline, Predicate &predicate)
    {
        while (!predicate())
            if (!wait_deadline(lock, deadline))
                return predicate();
        return true;
    }

    filch_cond cond_{};
};

/* ---- channels ---- */

/* Passes values of a movable type between fibers and threads.  The destructor frees the values that
 * are left.  No call may be running then. */
template <class T> class channel
{
    /* The C library copies items as bytes.  Where that is not allowed, it copies a pointer. */
    static constexpr bool is_direct = std::is_trivially_copyable_v<T> && alignof(T) <= 16;
    union direct_item { /* T may have no default constructor */
        direct_item() noexcept
        {
        }
        T value;
    };
    using item = std::conditional_t<is_direct, direct_item, T *>;

  public:
    /* capacity: the number of values that are buffered; with 0, a sender waits for a receiver. */
    explicit channel(std::size_t capacity = 0) : chan_(filch_chan_new(sizeof(item), capacity))
    {
        if (!chan_)
            detail::throw_error(-ENOMEM);
    }
    channel(const channel &) = delete;
    channel &operator=(const channel &) = delete;
    ~channel()
    {
        while (try_recv())
            continue;
        filch_chan_free(chan_);
    }

    /* Send a value, and wait while the channel is full.  Returns: false if it is closed. */
    bool send(T value)
    {
        return send_by(value, [this](const item *i) { return filch_chan_send(chan_, i); });
    }
    /* Send a value if that needs no wait.  Returns: true: it was sent. */
    bool try_send(T value)
    {
        return send_by(value, [this](const item *i) { return filch_chan_try_send(chan_, i); });
    }
    template <class Rep, class Period>
    bool try_send_for(T value, const std::chrono::duration<Rep, Period> &d)
    {
        const std::int64_t deadline = detail::deadline_after(d);

        return send_by(value, [this, deadline](const item *i) {
            return filch_chan_send_until(chan_, i, deadline);
        });
    }

    /* Receive a value, and wait while the channel is empty.  Returns: nothing if it is closed and
     * empty. */
    std::optional<T> recv()
    {
        return recv_by([this](item *i) { return filch_chan_recv(chan_, i); });
    }
    /* Receive a value if that needs no wait. */
    std::optional<T> try_recv()
    {
        return recv_by([this](item *i) { return filch_chan_try_recv(chan_, i); });
    }
    template <class Rep, class Period>
    std::optional<T> try_recv_for(const std::chrono::duration<Rep, Period> &d)
    {
        const std::int64_t deadline = detail::deadline_after(d);

        return recv_by(
            [this, deadline](item *i) { return filch_chan_recv_until(chan_, i, deadline); });
    }

    /* Close the channel.  Senders get false, receivers the values that are left. */
    void close() noexcept
    {
        filch_chan_close(chan_);
    }
    std::size_t size() const noexcept
    {
        return filch_chan_size(chan_);
    }
    std::size_t capacity() const noexcept
    {
        return filch_chan_capacity(chan_);
    }

    /* for (T &value : channel) receives until the channel is closed and empty. */
    class iterator
    {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using pointer = T *;
        using reference = T &;

        iterator() = default;
        explicit iterator(channel *c) : channel_(c)
        {
            ++*this;
        }
        T &operator*()
        {
            return *value_;
        }
        T *operator->()
        {
            return &*value_;
        }
        iterator &operator++()
        {
            value_.reset();
            if (auto v = channel_->recv())
                value_.emplace(std::move(*v));
            return *this;
        }
        void operator++(int)
        {
            ++*this;
        }
        bool operator==(const iterator &other) const
        {
            return value_.has_value() == other.value_.has_value();
        }
        bool operator!=(const iterator &other) const
        {
            return !(*this == other);
        }

      private:
        channel *channel_ = nullptr;
        std::optional<T> value_{};
    };
    iterator begin()
    {
        return iterator(this);
    }
    iterator end()
    {
        return iterator();
    }

  private:
    static bool is_sent(int e)
    {
        return e == 0 ||
               (e != -EPIPE && e != -EAGAIN && e != -ETIMEDOUT && (detail::check(e), true));
    }

    template <class Send> bool send_by(T &value, Send send)
    {
        if constexpr (is_direct) {
            item i;
            new (&i.value) T(std::move(value));
            return is_sent(send(&i));
        } else {
            std::unique_ptr<T> owner(new T(std::move(value)));
            T *i = owner.get();
            if (!is_sent(send(&i)))
                return false;
            (void)owner.release();
            return true;
        }
    }

    template <class Recv> std::optional<T> recv_by(Recv recv)
    {
        item i;

        if (!is_sent(recv(&i)))
            return std::nullopt;
        if constexpr (is_direct) {
            return std::optional<T>(std::move(i.value));
        } else {
            std::unique_ptr<T> owner(i);
            return std::optional<T>(std::move(*owner));
        }
    }

    filch_chan *chan_;
};

/* ---- fibers ---- */

/* A fiber that runs f(args...), like std::thread.  The destructor joins it, and drops an exception.
 * Copies of f and args are used. */
class fiber
{
  public:
    fiber() noexcept = default;
    template <class F, class... Args,
              class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, fiber>>>
    explicit fiber(F &&f, Args &&...args)
    {
        auto *s = new callable<std::decay_t<F>, std::decay_t<Args>...>(std::forward<F>(f),
                                                                       std::forward<Args>(args)...);

        fiber_ = filch_fiber_start(
            [](void *arg) -> void * {
                auto *st = static_cast<state *>(arg);
                st->exception.call([st] { st->call(); });
                st->release();
                return nullptr;
            },
            static_cast<state *>(s));
        if (!fiber_) {
            delete s;
            detail::throw_error(-ENOMEM);
        }
        state_ = s;
    }
    fiber(const fiber &) = delete;
    fiber &operator=(const fiber &) = delete;
    fiber(fiber &&other) noexcept
        : fiber_(std::exchange(other.fiber_, nullptr)), state_(std::exchange(other.state_, nullptr))
    {
    }
    fiber &operator=(fiber &&other) noexcept
    {
        fiber moved(std::move(other));

        swap(moved);
        return *this;
    }
    ~fiber()
    {
        if (joinable())
            join_in_any_case();
    }

    bool joinable() const noexcept
    {
        return fiber_ != nullptr;
    }

    /* Wait until the fiber has ended, and rethrow its exception.  If the caller is cancelled, throw
     * errc::operation_canceled: the fiber is still joinable then. */
    void join()
    {
        detail::check(filch_fiber_join(fiber_, nullptr));
        fiber_ = nullptr;
        state *s = std::exchange(state_, nullptr);
        detail::first_exception exception;
        exception.take(s->exception);
        s->release();
        exception.rethrow();
    }

    /* Let the fiber run on without this object. */
    void detach()
    {
        filch_fiber_detach(std::exchange(fiber_, nullptr));
        if (state_)
            std::exchange(state_, nullptr)->release();
    }

    /* Cancel the fiber: its waits throw errc::operation_canceled. */
    void cancel() noexcept
    {
        filch_fiber_cancel(fiber_);
    }

    void swap(fiber &other) noexcept
    {
        std::swap(fiber_, other.fiber_);
        std::swap(state_, other.state_);
    }

    filch_fiber *native_handle() noexcept
    {
        return fiber_;
    }

  private:
    /* Shared by the fiber and its handle. */
    struct state {
        virtual ~state() = default;
        virtual void call() = 0;
        void release()
        {
            if (users.fetch_sub(1, std::memory_order_acq_rel) == 1)
                delete this;
        }
        detail::first_exception exception;
        std::atomic<int> users{2};
    };

    template <class F, class... Args> struct callable final : state {
        template <class G, class... A>
        explicit callable(G &&f, A &&...args)
            : function(std::forward<G>(f)), arguments(std::forward<A>(args)...)
        {
        }
        void call() override
        {
            std::apply(
                [this](Args &...args) { std::invoke(std::move(function), std::move(args)...); },
                arguments);
        }
        F function;
        std::tuple<Args...> arguments;
    };

    /* A cancelled fiber waits, too. */
    void join_in_any_case() noexcept
    {
        bool was_cancelled = false;

        while (filch_fiber_join(fiber_, nullptr) == -ECANCELED)
            was_cancelled |= filch_fiber_uncancel();
        if (was_cancelled)
            filch_fiber_cancel(filch_fiber_self());
        state_->release();
    }

    filch_fiber *fiber_ = nullptr;
    state *state_ = nullptr;
};

/* ---- the calling fiber ---- */

/* Let other ready fibers run first. */
inline void yield()
{
    filch_yield();
}

/* Sleep.  In a cancelled fiber, throw errc::operation_canceled. */
template <class Rep, class Period> void sleep_for(const std::chrono::duration<Rep, Period> &d)
{
    detail::check(filch_sleep_until(detail::deadline_after(d)));
}
template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration> &t)
{
    detail::check(filch_sleep_until(detail::deadline_at(t)));
}

} // namespace filch

#endif
