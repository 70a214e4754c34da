/* Contexts: what a switch must preserve, and how misuse is reported. */
#include "check.h"
#include "child.h"
#include "ctx/ctx.h"
#include "regs.h"
#include "seed.h"

#include <fenv.h>
#include <pthread.h>
#include <stdbool.h>

#define NOINLINE   __attribute__((noinline))
#define STACK_SIZE ((size_t)256 * 1024)

static fi_ctx home, away;
static _Alignas(16) char stack[STACK_SIZE];

static void make_context(void (*entry)(void *), void *arg)
{
    fi_ctx_init_thread(&home);
    fi_ctx_make(&away, stack, sizeof stack, entry, arg);
}

NOINLINE static void go_home(void)
{
    fi_ctx_switch(&away, &home);
}

NOINLINE static void go_away(void)
{
    fi_ctx_switch(&home, &away);
}

/* --- switches --- */

static int turns;

static void count_switches(void *arg)
{
    (void)arg;
    for (int i = 0;; i++) {
        CHECK_INT(turns, 2 * i);
        turns++;
        go_home();
    }
}

static void ping_pong(void **state)
{
    (void)state;
    turns = 0;
    make_context(count_switches, NULL);
    for (int i = 0; i < 1000; i++) {
        go_away();
        CHECK_INT(turns, 2 * i + 1);
        turns++;
    }
    fi_ctx_fini(&away);
}

/* --- the entry function --- */

static void *arg_seen;
static uintptr_t frame_seen, local_seen;

static void record_entry(void *arg)
{
    volatile _Alignas(16) char local[16] = {0};

    arg_seen = arg;
    frame_seen = (uintptr_t)__builtin_frame_address(0);
    local_seen = (uintptr_t)&local[0] + (uintptr_t)local[1];
    fi_ctx_leave(&away, &home);
}

/* In both calling conventions the frame record of a function is at a multiple of 16 if the stack
 * was aligned at its entry. */
static void entry_gets_arg_and_aligned_stack(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < 40; cut++) { /* any end of the stack is aligned */
        fi_ctx_init_thread(&home);
        fi_ctx_make(&away, stack + cut / 2, sizeof stack - cut, record_entry, &stack[cut]);
        go_away();
        fi_ctx_fini(&away);
        CHECK(arg_seen == &stack[cut]);
        CHECK_INT(frame_seen % 16, 0);
        CHECK_INT(local_seen % 16, 0);
        CHECK(frame_seen >= (uintptr_t)stack && frame_seen < (uintptr_t)stack + sizeof stack);
    }
}

/* --- registers --- */

static void fill(uint64_t *regs, uint64_t seed)
{
    for (int i = 0; i < REGS; i++)
        regs[i] = seed * 0x9e3779b97f4a7c15u + (uint64_t)i * 0xbf58476d1ce4e5b9u;
}

static void overwrite_registers(void *arg)
{
    uint64_t in[REGS + 1], out[REGS + 1];

    (void)arg;
    for (uint64_t seed = 1000;; seed++) {
        fill(in, seed);
        regs_around(go_home, in, out);
        CHECK(memcmp(in, out, REGS * sizeof in[0]) == 0);
    }
}

static void registers_survive(void **state)
{
    uint64_t in[REGS + 1], out[REGS + 1];

    (void)state;
    if (REGS == 0) {
        printf("skipped: registers_survive: not written for this processor\n");
        return;
    }
    make_context(overwrite_registers, NULL);
    for (uint64_t seed = 1; seed < 100; seed++) {
        fill(in, seed);
        memset(out, 0, sizeof out);
        regs_around(go_away, in, out);
        for (int i = 0; i < REGS; i++)
            CHECK(in[i] == out[i]);
    }
    fi_ctx_fini(&away);
}

/* More live values of every type than registers, so that the optimiser keeps a value in each
 * register.  The switches are inlined, so that the compiler chooses them. */
static double use_many_locals(fi_ctx *from, fi_ctx *to, int rounds, double x, long k)
{
    double a = x, b = x * 2, c = x * 3, d = x * 5, e = x * 7, f = x * 11;
    long double l = x;
    long p = k, q = k * 3, r = k * 5, s = k * 7, t = k * 11, u = k * 13, v = k * 17, w = k * 19;

    for (int i = 0; i < rounds; i++) {
        fi_ctx_switch(from, to);
        a += 1, b += a, c += b, d += c, e += d, f += e, l += a;
        p += 1, q ^= p, r += q, s ^= r, t += s, u ^= t, v += u, w ^= v;
        p &= 0xffff, r &= 0xffff, t &= 0xffff, v &= 0xffff;
    }
    return a + b + c + d + e + f + (double)l + (double)(p + q + r + s + t + u + v + w);
}

static void use_many_locals_in_context(void *arg)
{
    (void)arg;
    for (;;)
        use_many_locals(&away, &home, 7, -3.5, 99);
}

static void swap_back(void *arg)
{
    (void)arg;
    for (;;)
        fi_ctx_switch(&away, &home);
}

static void locals_survive(void **state)
{
    (void)state;
    make_context(swap_back, NULL);
    double alone = use_many_locals(&home, &away, 40, 1.25, 17);
    fi_ctx_fini(&away);
    make_context(use_many_locals_in_context, NULL);
    CHECK(use_many_locals(&home, &away, 40, 1.25, 17) == alone);
    fi_ctx_fini(&away);
}

/* A frame of variable size with a stricter alignment.  Compilers address it with a register that
 * must survive the switch. */
NOINLINE static long odd_frame(size_t n, long seed)
{
    _Alignas(64) volatile long fixed[8];
    volatile long variable[n];

    for (size_t i = 0; i < 8; i++)
        fixed[i] = seed + (long)i;
    for (size_t i = 0; i < n; i++)
        variable[i] = seed * (long)i;
    fi_ctx_switch(&home, &away);
    CHECK_INT((uintptr_t)fixed % 64, 0);
    long sum = 0;
    for (size_t i = 0; i < 8; i++)
        sum += fixed[i] - (long)i;
    for (size_t i = 0; i < n; i++)
        sum += variable[i] - seed * (long)i;
    return sum;
}

static void odd_frames_survive(void **state)
{
    (void)state;
    make_context(overwrite_registers, NULL);
    for (size_t n = 1; n < 100; n += 7)
        CHECK_INT(odd_frame(n, (long)n * 3), (long)n * 24);
    fi_ctx_fini(&away);
}

/* --- floating-point control words --- */

/* In both units where there are two: double goes through SSE, long double through the x87. */
static bool rounds_up(void)
{
    volatile double one = 1, tiny = 0x1p-200, sum = one + tiny;
    volatile long double lone = 1, ltiny = 0x1p-200L, lsum = lone + ltiny;

    CHECK_INT(sum > one, lsum > lone);
    return sum > one;
}

static void round_up(void *arg)
{
    (void)arg;
    CHECK_INT(fegetround(), FE_TONEAREST);
    CHECK_INT(fesetround(FE_UPWARD), 0);
    for (;;) {
        go_home();
        CHECK_INT(fegetround(), FE_UPWARD);
        CHECK(rounds_up());
    }
}

static void rounding_is_per_context(void **state)
{
    (void)state;
    CHECK_INT(fesetround(FE_TONEAREST), 0);
    make_context(round_up, NULL);
    for (int i = 0; i < 3; i++) {
        go_away();
        CHECK_INT(fegetround(), FE_TONEAREST);
        CHECK(!rounds_up());
    }
    CHECK_INT(fesetround(FE_TOWARDZERO), 0);
    go_away();
    CHECK_INT(fegetround(), FE_TOWARDZERO);
    CHECK_INT(fesetround(FE_TONEAREST), 0);
    fi_ctx_fini(&away);
}

static int rounding_seen;

static void record_rounding(void *arg)
{
    (void)arg;
    rounding_seen = fegetround();
    fi_ctx_leave(&away, &home);
}

static void new_context_inherits_rounding(void **state)
{
    static const int modes[] = {FE_DOWNWARD, FE_TONEAREST, FE_UPWARD, FE_TOWARDZERO};

    (void)state;
    for (int i = 0; i < 4; i++) {
        CHECK_INT(fesetround(modes[i]), 0);
        make_context(record_rounding, NULL);
        CHECK_INT(fesetround(FE_TONEAREST), 0);
        go_away();
        CHECK_INT(rounding_seen, modes[i]);
        fi_ctx_fini(&away);
    }
}

#ifdef __x86_64__
/* A change in one unit alone is kept: the precision of the x87, or flush to zero of SSE. */
static void set_one_unit(void *arg)
{
    int sse = *(int *)arg;
    uint16_t cw;
    uint32_t csr;

    __asm__ volatile("fnstcw %0\n\tstmxcsr %1" : "=m"(cw), "=m"(csr));
    cw = sse ? cw : (uint16_t)(cw & ~0x300u);
    csr = sse ? csr | 0x8000u : csr;
    __asm__ volatile("fldcw %0\n\tldmxcsr %1" : : "m"(cw), "m"(csr));
    for (;;)
        go_home();
}
#endif

static void each_unit_is_kept(void **state)
{
    (void)state;
#ifdef __x86_64__
    for (int sse = 0; sse < 2; sse++) {
        uint16_t cw;
        uint32_t csr;

        make_context(set_one_unit, &sse);
        go_away();
        go_away();
        __asm__ volatile("fnstcw %0\n\tstmxcsr %1" : "=m"(cw), "=m"(csr));
        CHECK_INT(cw & 0x300, 0x300);
        CHECK_INT(csr & 0x8000, 0);
        fi_ctx_fini(&away);
    }
#else
    printf("skipped: each_unit_is_kept: this processor has one control word\n");
#endif
}

/* --- depth and number --- */

NOINLINE static long deep(int depth)
{
    volatile long here[8];
    long sum = 0;

    for (int i = 0; i < 8; i++)
        here[i] = depth * 8L + i;
    if (depth % 16 == 0)
        go_home();
    if (depth > 0)
        sum = deep(depth - 1);
    for (int i = 0; i < 8; i++)
        sum += here[i] == depth * 8L + i;
    return sum;
}

#define DEPTH (FI_CTX_SANITIZED ? 300 : 1000)

static long deep_result;

static void recurse(void *arg)
{
    (void)arg;
    deep_result = deep(DEPTH);
    fi_ctx_leave(&away, &home);
}

static void deep_recursion(void **state)
{
    int switches = 0;

    (void)state;
    deep_result = -1;
    make_context(recurse, NULL);
    while (deep_result < 0) {
        go_away();
        switches++;
        volatile long noise = deep_result; /* use this stack between the switches too */
        CHECK(noise == -1 || noise == 8L * (DEPTH + 1));
    }
    CHECK_INT(deep_result, 8L * (DEPTH + 1));
    CHECK_INT(switches, DEPTH / 16 + 2);
    fi_ctx_fini(&away);
}

static uint64_t next_random(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

struct member {
    fi_ctx ctx;
    long visits;
    long local_visits;
};

#define MEMBERS      (FI_CTX_SANITIZED ? 1000 : 5000)
#define MEMBER_STACK ((size_t)16384)

static struct member members[5000];
static bool closing;

static void member_main(void *arg)
{
    struct member *m = arg;
    long mine = 0;

    while (!closing) {
        m->local_visits = ++mine;
        fi_ctx_switch(&m->ctx, &home);
    }
    fi_ctx_leave(&m->ctx, &home);
}

static void many_contexts(void **state)
{
    uint64_t seed = seed_get() | 1;
    char *stacks = malloc(MEMBERS * MEMBER_STACK);

    (void)state;
    CHECK(stacks != NULL);
    closing = false;
    fi_ctx_init_thread(&home);
    for (size_t i = 0; i < MEMBERS; i++) {
        members[i].visits = members[i].local_visits = 0;
        fi_ctx_make(&members[i].ctx, stacks + i * MEMBER_STACK, MEMBER_STACK, member_main,
                    &members[i]);
    }
    for (int i = 0; i < MEMBERS * 10; i++) {
        struct member *m = &members[next_random(&seed) % MEMBERS];

        m->visits++;
        fi_ctx_switch(&home, &m->ctx);
        CHECK_INT(m->local_visits, m->visits);
    }
    closing = true;
    for (size_t i = 0; i < MEMBERS; i++) {
        fi_ctx_switch(&home, &members[i].ctx);
        fi_ctx_fini(&members[i].ctx);
    }
    free(stacks);
}

/* Not declared noreturn, so that the frames of its callers stay as they are. */
NOINLINE static void count_and_leave(void)
{
    if (turns++ >= 0)
        fi_ctx_leave(&away, &home);
}

/* Each generation leaves in the middle of a call, with arrays in scope.  What a sanitizer has
 * recorded about them must not affect the next user of the stack. */
NOINLINE static void leave_from_within(int depth)
{
    volatile char array[100];

    memset((char *)array, depth, sizeof array);
    if (depth > 0)
        leave_from_within(depth - 1);
    else
        count_and_leave();
    array[1] = 0; /* never reached; it keeps the frame until then */
}

/* More than ThreadSanitizer supports at once, so each must be destroyed before the next. */
#define GENERATIONS 10000

static void leave_at_once(void *arg)
{
    leave_from_within(*(int *)arg);
}

static void stack_is_reused(void **state)
{
    (void)state;
    turns = 0;
    for (int i = 0; i < GENERATIONS; i++) {
        int depth = i % 37;

        make_context(leave_at_once, &depth);
        go_away();
        fi_ctx_fini(&away);
    }
    CHECK_INT(turns, GENERATIONS);
}

/* --- threads --- */

/* pthread_self is declared const, and noinline does not hide that from link-time optimisation.  The
 * empty assembly does. */
NOINLINE static pthread_t self_now(void)
{
    __asm__ volatile("" ::: "memory");
    return pthread_self();
}

struct moving_context {
    fi_ctx ctx;
    fi_ctx *resume; /* the context of the thread that runs it now */
    pthread_t seen;
    long steps, local_steps;
};

static void move_between_threads(void *arg)
{
    struct moving_context *t = arg;

    for (long mine = 1;; mine++) {
        t->seen = self_now();
        t->local_steps = mine;
        fi_ctx_switch(&t->ctx, t->resume);
    }
}

static void run_on_this_thread(struct moving_context *t, fi_ctx *own)
{
    t->resume = own;
    t->steps++;
    fi_ctx_switch(own, &t->ctx);
    CHECK(pthread_equal(t->seen, pthread_self()));
    CHECK_INT(t->local_steps, t->steps);
}

struct relay {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int turn;
    struct moving_context t;
};

#define LEGS 300

static void run_legs(struct relay *r, int me)
{
    fi_ctx own;

    fi_ctx_init_thread(&own);
    pthread_mutex_lock(&r->lock);
    for (int leg = 0; leg < LEGS; leg++) {
        while (r->turn != me)
            pthread_cond_wait(&r->changed, &r->lock);
        run_on_this_thread(&r->t, &own);
        r->turn = !me;
        pthread_cond_signal(&r->changed);
    }
    pthread_mutex_unlock(&r->lock);
    fi_ctx_fini(&own);
}

static void *second_runner(void *arg)
{
    run_legs(arg, 1);
    return NULL;
}

static void context_moves_between_threads(void **state)
{
    static struct relay r = {.lock = PTHREAD_MUTEX_INITIALIZER,
                             .changed = PTHREAD_COND_INITIALIZER};
    pthread_t other;

    (void)state;
    fi_ctx_make(&r.t.ctx, stack, sizeof stack, move_between_threads, &r.t);
    CHECK_INT(pthread_create(&other, NULL, second_runner, &r), 0);
    run_legs(&r, 0);
    CHECK_INT(pthread_join(other, NULL), 0);
    CHECK_INT(r.t.local_steps, 2 * LEGS);
    fi_ctx_fini(&r.t.ctx);
}

/* --- misuse --- */

static void just_return(void *arg)
{
    (void)arg;
}

static void let_entry_return(void *arg)
{
    (void)arg;
    make_context(just_return, NULL);
    go_away();
}

static void make_too_small(void *arg)
{
    fi_ctx_make(&away, stack, *(size_t *)arg, just_return, NULL);
}

static void entry_that_returns_is_reported(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, let_entry_return, NULL), 0);
    CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT);
    CHECK(
        strstr(end.text,
               "filch: fi_ctx_make: the entry function returned; it must end with fi_ctx_leave\n"));
}

static void stack_too_small_is_reported(void **state)
{
    static size_t sizes[] = {0, 1, 1023};
    struct child_end end;

    (void)state;
    for (int i = 0; i < 3; i++) {
        CHECK_INT(child_end_of(&end, make_too_small, &sizes[i]), 0);
        CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT);
        CHECK(strstr(end.text,
                     "filch: fi_ctx_make: needs an entry function and a stack of at least"));
    }
}

CHECK_MAIN(ping_pong, entry_gets_arg_and_aligned_stack, registers_survive, locals_survive,
           odd_frames_survive, rounding_is_per_context, new_context_inherits_rounding,
           each_unit_is_kept, deep_recursion, many_contexts, stack_is_reused,
           context_moves_between_threads, entry_that_returns_is_reported,
           stack_too_small_is_reported)
