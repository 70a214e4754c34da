/* Random executions of the shipped deques, each with one owner and two thieves, and of weakened
 * deques, which must fail.  relacy finds in milliseconds what an exhaustive search finds in
 * seconds, but it can miss a bug.  The explorer is exhaustive. */
#include "relacy/atomic.h"

#include "base/futex.h"
#include "deque/deque.h"

#include <iostream>

namespace
{

const int ITEMS = 6;
const int STEALS = 3;
const unsigned MAX_STEAL = 4;

struct weakened {
    const char *label;
    rl::memory_order to;
};

const fi_deque_ops *kind;
const weakened *mutant;
unsigned capacity, batch;

/* Push three items, pop one, and so on, with a drain at the end.  relacy checks that the payload of
 * an item is written before it is read. */
struct deque_test : rl::test_suite<deque_test, 3> {
    fi_deque *deque;
    rl::var<int> payload[ITEMS];
    int obtained[ITEMS];
    bool pushed[ITEMS];
    rl::atomic<int> ended;

    void before()
    {
        fi_deque_config config = {capacity, batch, UINT64_MAX - 2};
        RL_ASSERT(fi_deque_new(kind, &config, &deque) == 0);
        for (int i = 0; i < ITEMS; i++) {
            obtained[i] = 0;
            pushed[i] = false;
        }
        ended.store(0, rl::mo_relaxed, RL_INFO);
    }

    void obtain(void *item)
    {
        RL_ASSERT(item != 0);
        int i = (int)((intptr_t)item - 1);
        RL_ASSERT(payload[i](RL_INFO) == i);
        RL_ASSERT(++obtained[i] == 1);
    }

    void owner()
    {
        for (int i = 0; i < ITEMS; i++) {
            payload[i](RL_INFO) = i;
            pushed[i] = fi_deque_push(deque, (void *)(intptr_t)(i + 1)) == 0;
            if (i % 3 == 2)
                if (void *item = fi_deque_pop(deque))
                    obtain(item);
        }
        while (void *item = fi_deque_pop(deque))
            obtain(item);
    }

    void thief()
    {
        for (int i = 0; i < STEALS; i++) {
            void *out[MAX_STEAL];
            int n = fi_deque_steal(deque, out, MAX_STEAL);
            for (int k = 0; k < n; k++)
                obtain(out[k]);
        }
    }

    void thread(unsigned index)
    {
        if (index == 0)
            owner();
        else
            thief();
        ended.fetch_add(1, rl::mo_acq_rel, RL_INFO);
    }

    void after()
    {
        while (void *item = fi_deque_pop(deque))
            obtain(item);
        for (int i = 0; i < ITEMS; i++)
            RL_ASSERT(obtained[i] == pushed[i]);
        fi_deque_free(deque);
    }
};

/* relacy prints a long trace of a failing execution.  RELACY_TRACE=1 shows it. */
struct silence : std::streambuf {
    int overflow(int c)
    {
        return c;
    }
};

bool runs_clean(unsigned iterations, unsigned *stopped)
{
    silence none;
    std::ostream nowhere(&none);
    rl::test_params params;
    params.iteration_count = iterations;
    params.output_stream = getenv("RELACY_TRACE") && !mutant ? &std::cout : &nowhere;
    params.progress_stream = &nowhere;
    bool clean = rl::simulate<deque_test>(params);
    *stopped = (unsigned)params.stop_iteration;
    return clean;
}

struct setting {
    const char *kind;
    unsigned capacity, batch;
};

const setting settings[] = {{"locked", 4, 2}, {"bounded", 2, 0}, {"bounded", 8, 0}, {"batch", 1, 2},
                            {"batch", 8, 3},  {"half", 2, 0},    {"half", 8, 0}};

/* The mutants that random search finds quickly.  docs/memory-model.md has all of them. */
struct mutation {
    setting on;
    weakened how;
};

const mutation mutations[] = {
    {{"bounded", 2, 0}, {"bounded.pop.fence", rl::mo_relaxed}},
    {{"bounded", 2, 0}, {"bounded.steal.fence", rl::mo_relaxed}},
    {{"bounded", 8, 0}, {"bounded_base.push.publish", rl::mo_relaxed}},
    {{"bounded", 8, 0}, {"bounded.steal.bottom", rl::mo_relaxed}},
    {{"batch", 8, 3}, {"batch.pop.reach", rl::mo_relaxed}},
    {{"batch", 8, 3}, {"batch.pop.bump", rl::mo_relaxed}},
    {{"batch", 8, 3}, {"batch.push.publish", rl::mo_relaxed}},
    {{"batch", 8, 3}, {"batch.steal.bottom", rl::mo_relaxed}},
    {{"batch", 1, 2}, {"batch.steal.array", rl::mo_relaxed}},
    {{"batch", 1, 2}, {"batch.grow.array", rl::mo_relaxed}},
    {{"half", 8, 0}, {"bounded_base.push.publish", rl::mo_relaxed}},
    {{"half", 8, 0}, {"half.steal.bottom", rl::mo_relaxed}},
    {{"locked", 4, 2}, {"lock.try", rl::mo_relaxed}},
    {{"locked", 4, 2}, {"lock.unlock", rl::mo_relaxed}},
};

bool run(const setting &s, const weakened *how, unsigned iterations)
{
    kind = fi_deque_kind_named(s.kind);
    capacity = s.capacity;
    batch = s.batch;
    mutant = how;
    unsigned stopped;
    bool clean = runs_clean(iterations, &stopped);
    bool good = clean == (how == NULL);
    printf("%-8s capacity %u, k %u  %-24s %s after %u executions%s\n", s.kind, s.capacity, s.batch,
           how ? how->label : "as shipped", clean ? "clean" : "fails", clean ? iterations : stopped,
           good ? "" : "  (!)");
    fflush(stdout);
    return good;
}

} // namespace

rl::memory_order order_now(const char *label, rl::memory_order written)
{
    return mutant && strcmp(label, mutant->label) == 0 ? mutant->to : written;
}

bool fault_now(const char *label)
{
    return mutant && strcmp(label, mutant->label) == 0;
}

void fence_now(const char *label, rl::debug_info_param where)
{
    if (!fault_now(label))
        rl::atomic_thread_fence(rl::mo_seq_cst, where);
}

/* Spurious wake-ups are allowed, so a wait may return at once. */
int fi_futex_wait(FI_ATOMIC(uint32_t) *, uint32_t, int64_t)
{
    rl::yield(1, RL_INFO);
    return 0;
}

int fi_futex_wake(FI_ATOMIC(uint32_t) *, int)
{
    return 0;
}

int main(int argc, char **argv)
{
    unsigned iterations = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 20000;
    int n = 0, bad = 0;
    for (const setting &s : settings)
        n++, bad += !run(s, NULL, iterations);
    for (const mutation &m : mutations)
        n++, bad += !run(m.on, &m.how, 20 * iterations);
    printf("relacy: %d passed, %d failed\n", n - bad, bad);
    return bad > 0;
}
