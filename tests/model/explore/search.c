/* Making every choice once.
 *
 * An execution is determined by its list of choices.  The search runs one to its end, then goes
 * back to the last choice that has an option left and runs again from the start (depth first).  It
 * gives up on an execution as soon as the state it is in has been seen before: memory, views, and
 * for each thread a hash of all it has read (its stack is a function of that).
 *
 * When may others run?  In rc11 and imm a load changes nothing for others, and what it can read now
 * it can also read later; so loads are moved down to the thread's next store, read-modify-write or
 * fence, and others run only after one of those.  In tso a load reads the one newest value, so
 * others run before every access to memory; moving a store from a buffer to memory is a step of its
 * own.
 */
#include "explore/machine.h"

#include "base/clock.h"
#include "base/futex.h"
#include "ctx/ctx.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STACK_BYTES = 64 * 1024, MAX_CHOICES = 4096, MAX_OPERATIONS = 600 };

typedef struct choice {
    uint8_t options, picked;
} choice;

typedef struct thread {
    fi_ctx ctx;
    uint64_t history;
    const void *asleep_on; /* futex word */
    int64_t until;         /* asleep so long; a deadline may come at any moment */
    bool overslept;        /* one has come */
    const void *awaits;    /* a word that must be 0 before it goes on */
    bool goes_on;          /* others need not go after its next access */
    bool ended, joining, needs_drained, yielding, spinning;
    bool stale;   /* something that it read in its last look was not the newest */
    uint64_t saw; /* progress when it last began to look */
} thread;

typedef enum ending { RUNNING, DONE, SEEN, FAILED, TOO_LONG, RESTART } ending;

static struct {
    const check *check;
    thread thread[MAX_THREADS];
    fi_ctx home;
    int running, last;
    bool setup;
    ending ending;
    verdict verdict;
    char reason[sizeof((outcome *)0)->reason];
    choice choice[MAX_CHOICES];
    int choices, next, replayed; /* how many there are; the next to make; how many were given */
    int operations;
    uint64_t total_operations;
    uint64_t progress; /* steps of threads that are not merely looking again */
} s;

static _Alignas(64) unsigned char stacks[MAX_THREADS][STACK_BYTES];

/* ---- the states seen ---- */

static struct {
    uint64_t *hash;
    size_t used, size;
} seen;

static void seen_reset(void)
{
    if (!seen.hash) {
        seen.size = (size_t)1 << 16;
        seen.hash = calloc(seen.size, sizeof *seen.hash);
    } else {
        memset(seen.hash, 0, seen.size * sizeof *seen.hash);
    }
    seen.used = 0;
    if (!seen.hash)
        abort();
}

static bool seen_insert(uint64_t *table, size_t size, uint64_t h)
{
    size_t i = h & (size - 1);
    while (table[i] && table[i] != h)
        i = (i + 1) & (size - 1);
    bool fresh = table[i] == 0;
    table[i] = h;
    return fresh;
}

static void seen_grow(void)
{
    size_t size = seen.size * 4;
    uint64_t *table = calloc(size, sizeof *table);
    if (!table)
        abort();
    for (size_t i = 0; i < seen.size; i++)
        if (seen.hash[i])
            seen_insert(table, size, seen.hash[i]);
    free(seen.hash);
    seen.hash = table;
    seen.size = size;
}

static bool seen_before(uint64_t h)
{
    if (seen.used * 2 > seen.size)
        seen_grow();
    if (!seen_insert(seen.hash, seen.size, h | 1))
        return true;
    seen.used++;
    return false;
}

/* ---- what the machine asks ---- */

int search_self(void)
{
    return s.running;
}

bool search_in_setup(void)
{
    return s.setup;
}

bool search_ended(int t)
{
    return s.thread[t].ended;
}

static void go_home(void)
{
    fi_ctx_switch(&s.thread[s.running].ctx, &s.home);
}

static void end_execution(ending e)
{
    s.ending = e;
    for (;;)
        go_home();
}

uint32_t search_choose(uint32_t options)
{
    if (options == 1)
        return 0;
    if (options == 0 || options > UINT8_MAX || s.next == MAX_CHOICES)
        x_fail(LIMIT, "the explorer cannot choose one of %u", options);
    if (s.next == s.choices)
        s.choice[s.choices++] = (choice){(uint8_t)options, 0};
    choice c = s.choice[s.next++];
    if (c.options != options) { /* the same choices must lead to the same questions */
        fprintf(stderr, "explore: an execution could not be repeated\n");
        abort();
    }
    return c.picked;
}

void search_read(uint64_t value)
{
    thread *t = &s.thread[s.running];
    t->history = machine_mix(t->history, value);
}

/* A thread that loops would go on for ever; the loop's end is then not explored, and that is said.
 */
void search_operation(void)
{
    s.total_operations++;
    if (++s.operations > MAX_OPERATIONS && !s.setup)
        end_execution(TOO_LONG);
}

void search_stale(void)
{
    s.thread[s.running].stale = true;
}

void search_unlocks(void)
{
    if (s.check->before_unlock)
        s.check->before_unlock(s.running);
}

void search_restart(void)
{
    end_execution(RESTART);
}

void search_point_before(bool needs_drained)
{
    if (s.check->mode != MODE_TSO || s.setup)
        return;
    search_read(1);
    s.thread[s.running].needs_drained = needs_drained;
    go_home();
    s.thread[s.running].needs_drained = false;
    s.thread[s.running].awaits = NULL;
}

void search_point_after(void)
{
    if (s.check->mode == MODE_TSO || s.setup)
        return;
    search_read(2);
    if (!s.thread[s.running].goes_on)
        go_home();
    s.thread[s.running].goes_on = false;
}

/* The access to the word that follows is where others go in tso.  In rc11 and imm they need not go
 * after it: whoever does not look at the word may as well go before, and who looks must wait. */
void search_await_zero(const void *word)
{
    thread *t = &s.thread[s.running];
    t->awaits = word;
    if (s.check->mode == MODE_TSO)
        return;
    if (x_peek(word) != 0)
        go_home();
    t->awaits = NULL;
    t->goes_on = true;
}

/* ---- what the threads of a check ask ---- */

void x_fail(verdict v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s.reason, sizeof s.reason, format, args);
    va_end(args);
    s.verdict = v;
    if (s.setup) {
        fprintf(stderr, "explore: set-up failed: %s\n", s.reason);
        exit(2);
    }
    end_execution(FAILED);
    abort();
}

void x_say(const char *format, ...)
{
    if (!tracing)
        return;
    char text[120];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    trace_note(text);
}

void x_forget(uint64_t position)
{
    thread *t = &s.thread[s.running];
    machine_forget(s.running);
    t->history = machine_mix(0, position);
    t->spinning = false;
}

void x_join(void)
{
    s.thread[s.running].joining = true;
    go_home();
    s.thread[s.running].joining = false;
    machine_join(s.running, s.check->threads);
}

/* Looking again makes sense only if somebody has done something since the last look; two threads
 * that wait for a third are not something. */
void x_yield(void)
{
    thread *t = &s.thread[s.running];
    if (!t->spinning)
        t->saw = s.progress - 1; /* somebody may have, since its first look */
    t->yielding = t->spinning = true;
    search_read(5);
    go_home();
    t->yielding = t->stale = false;
    t->saw = s.progress;
}

/* ---- the kernel's part: sleeping on a word ---- */

/* Asked by who polls in place of sleeping, and nobody does that here. */
int64_t fi_clock_now(void)
{
    return 0;
}

/* Time passes as it likes: a deadline may come at any moment. */
static int sleep_on(thread *t, const void *word, int64_t until)
{
    x_say("sleeps");
    t->asleep_on = word;
    t->until = until;
    search_read(4);
    go_home();
    bool woken = t->asleep_on == NULL;
    t->overslept |= !woken;
    t->asleep_on = NULL;
    x_say(woken ? "is awake again" : "has slept long enough");
    search_read(woken);
    return woken ? 0 : -ETIMEDOUT;
}

/* Woken for no reason is not tried; who can take that can take the deadline too. */
int fi_futex_wait(FI_ATOMIC(uint32_t) * word, uint32_t expected, int64_t deadline_ns)
{
    search_operation();
    search_point_before(true);
    machine_enter_kernel();
    if ((uint32_t)machine_newest(word) != expected) {
        search_read(3);
        search_point_after();
        return -EAGAIN;
    }
    return sleep_on(&s.thread[s.running], word, deadline_ns);
}

static int sleepers(const void *word, int *who)
{
    int n = 0;
    for (int i = 0; i < s.check->threads; i++)
        if (s.thread[i].asleep_on == word)
            who[n++] = i;
    return n;
}

/* The word itself is not looked at: it may be gone. */
int fi_futex_wake(FI_ATOMIC(uint32_t) * word, int count)
{
    search_operation();
    search_point_before(true);
    machine_enter_kernel();
    int woken = 0, who[MAX_THREADS];
    for (int n; woken < count && (n = sleepers(word, who)) > 0; woken++)
        s.thread[who[search_choose((uint32_t)n)]].asleep_on = NULL;
    search_read((uint64_t)woken);
    search_point_after();
    return woken;
}

/* ---- one execution ---- */

static void thread_main(void *arg)
{
    int id = (int)(intptr_t)arg;
    s.check->run(id);
    s.thread[id].ended = true;
    for (;;)
        go_home();
}

static bool others_ended(int t)
{
    for (int i = 0; i < s.check->threads; i++)
        if (i != t && (!s.thread[i].ended || machine_can_flush(i)))
            return false;
    return true;
}

static bool may_time_out(int i)
{
    const thread *t = &s.thread[i];
    return t->until != FI_FUTEX_FOREVER &&
           (!s.check->time_stands || (s.check->late & 1u << i && !t->overslept));
}

static bool enabled(int i)
{
    const thread *t = &s.thread[i];
    if (t->ended || (t->asleep_on && !may_time_out(i)) || (t->yielding && s.progress == t->saw) ||
        (t->joining && !others_ended(i)) || (t->awaits && x_peek(t->awaits) != 0))
        return false;
    return !t->needs_drained || !machine_can_flush(i);
}

/* Whoever ran last goes first, so that the first failure found has few changes of thread. */
static int steps(int *step)
{
    int n = 0;
    for (int i = s.last; i < s.check->threads; i++)
        if (enabled(i))
            step[n++] = i;
    for (int i = 0; i < s.last; i++)
        if (enabled(i))
            step[n++] = i;
    for (int i = 0; i < s.check->threads && s.check->mode == MODE_TSO; i++)
        if (machine_can_flush(i))
            step[n++] = MAX_THREADS + i;
    return n;
}

static void take_step(int step)
{
    if (step >= MAX_THREADS) {
        machine_flush(step - MAX_THREADS);
        s.progress++;
        return;
    }
    s.running = s.last = step;
    fi_ctx_switch(&s.home, &s.thread[step].ctx);
    s.progress += !s.thread[step].spinning;
}

static bool all_ended(void)
{
    for (int i = 0; i < s.check->threads; i++)
        if (!s.thread[i].ended)
            return false;
    return true;
}

const void *x_asleep_on(int t)
{
    return s.thread[t].asleep_on ? s.thread[t].asleep_on : s.thread[t].awaits;
}

int64_t x_asleep_until(int t)
{
    return s.thread[t].until;
}

static void name_the_sleepers(void)
{
    size_t used = (size_t)snprintf(s.reason, sizeof s.reason, "nobody can go on:");
    for (int i = 0; i < s.check->threads; i++)
        if (!s.thread[i].ended && used < sizeof s.reason)
            used += (size_t)snprintf(s.reason + used, sizeof s.reason - used, " %s waits;",
                                     s.check->thread_name(i));
}

/* A store is seen at last.  Who has looked in vain, but at something old, and at a time when the newest was there to be
 * seen, does see it in another execution. */
static bool somebody_looked_in_vain(void)
{
    for (int i = 0; i < s.check->threads; i++)
        if (s.thread[i].yielding && s.thread[i].stale)
            return true;
    return false;
}

/* Nobody can go on.  That is the end of a program whose threads may sleep for ever, if all is well. */
static void rest(void)
{
    s.ending = DONE;
    if (all_ended() || somebody_looked_in_vain())
        return;
    const char *wrong = s.check->at_rest ? s.check->at_rest() : "";
    if (!wrong)
        return;
    s.ending = FAILED;
    s.verdict = HANG;
    if (*wrong)
        snprintf(s.reason, sizeof s.reason, "%s", wrong);
    else
        name_the_sleepers();
}

/* Nobody can go on before a deadline has come. */
static bool time_decides(const int *step, int n)
{
    for (int i = 0; i < n; i++)
        if (step[i] >= MAX_THREADS || !s.thread[step[i]].asleep_on)
            return false;
    return true;
}

static uint64_t thread_state(int i)
{
    const thread *t = &s.thread[i];
    bool may_look = t->spinning && s.progress != t->saw;
    bool looked_at_old = t->spinning && t->stale; /* else it does not matter: x_yield forgets it */
    const bool flags[] = {t->ended,         t->joining,
                          t->needs_drained, t->asleep_on != NULL,
                          t->yielding,      t->spinning,
                          may_look,         t->awaits != NULL,
                          looked_at_old,    s.check->time_stands && t->overslept};
    uint64_t state = 0;
    for (size_t k = 0; k < sizeof flags / sizeof flags[0]; k++)
        state = state << 1 | flags[k];
    return machine_mix(t->history, state);
}

static bool here_before(void)
{
    uint64_t h = machine_hash(thread_state, s.check->threads);
    return seen_before(machine_mix(h, s.check->summary()));
}

static void start(void)
{
    machine_reset();
    s.next = s.operations = s.running = s.last = 0;
    s.progress = 0;
    s.ending = RUNNING;
    s.setup = true;
    s.check->setup();
    s.setup = false;
    for (int i = 0; i < s.check->threads; i++) {
        memset(&s.thread[i], 0, sizeof s.thread[i]);
        fi_ctx_make(&s.thread[i].ctx, stacks[i], STACK_BYTES, thread_main, (void *)(intptr_t)i);
    }
}

static void run(bool prune)
{
    start();
    while (s.ending == RUNNING) {
        int step[2 * MAX_THREADS];
        int n = steps(step);
        if (n == 0) {
            rest();
            return;
        }
        if (prune && s.next >= s.replayed && here_before()) {
            s.ending = SEEN;
            return;
        }
        if (s.check->time_stands && time_decides(step, n)) {
            rest();
            if (s.ending == FAILED)
                return;
            s.ending = RUNNING;
        }
        take_step(step[search_choose((uint32_t)n)]);
    }
}

/* ---- all executions ---- */

/* Drop the choices whose options are used up; false when there is none left. */
static bool backtrack(void)
{
    s.choices = s.next;
    while (s.choices > 0) {
        choice *last = &s.choice[s.choices - 1];
        if (++last->picked < last->options) {
            s.replayed = s.choices;
            return true;
        }
        s.choices--;
    }
    return false;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

outcome explore(const check *c)
{
    outcome out = {.complete = true};
    double began = now();
    s.check = c;
    s.choices = s.replayed = 0;
    s.total_operations = 0;
    fi_ctx_init_thread(&s.home);
    machine_begin(c);
    seen_reset();
    do {
        run(true);
        out.executions++;
        out.complete &= s.ending != TOO_LONG;
        if (s.ending == RESTART) {
            s.choices = s.next = s.replayed = 0;
            seen_reset();
        }
    } while (s.ending != FAILED && (s.ending == RESTART || backtrack()));
    if (s.ending == FAILED) {
        out.verdict = s.verdict;
        snprintf(out.reason, sizeof out.reason, "%s", s.reason);
    }
    out.states = seen.used;
    out.operations = s.total_operations;
    out.seconds = now() - began;
    return out;
}

void explore_print_trace(const check *c, FILE *to)
{
    trace_start(c, to);
    tracing = true;
    run(false);
    tracing = false;
    fprintf(to, "  => %s\n", s.reason);
}
