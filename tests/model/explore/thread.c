/* Calls of a running thread to the search.
 *
 * They decide when other threads may run.  In rc11 and imm a load changes nothing for others, and
 * what it can read now it can also read later.  So loads are moved down to the thread's next store,
 * read-modify-write or fence, and others run only after one of those.  In tso a load reads the
 * newest value, so others run before every access to memory.  Moving a store from a buffer to
 * memory is a step of its own. */
#include "explore/execution.h"

#include <stdarg.h>
#include <stdlib.h>

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

/* Not inlined, so that its frame is below all that the thread uses. */
__attribute__((noinline)) void go_home(void)
{
    running_thread()->stack_low = (unsigned char *)__builtin_frame_address(0) - STACK_SLACK;
    fi_ctx_switch(&s.thread[s.running].ctx, &s.home);
}

static void end_execution(ending e)
{
    s.ending = e;
    for (;;)
        go_home();
}

void search_read(uint64_t value)
{
    thread *t = running_thread();
    t->history = machine_mix(t->history, value);
}

/* The end of a loop that is too long is not explored, and the outcome says so. */
void search_operation(void)
{
    s.total_operations++;
    if (++s.operations > MAX_OPERATIONS && !s.setup)
        end_execution(TOO_LONG);
}

void search_stale(void)
{
    running_thread()->stale = true;
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
    thread *t = running_thread();
    search_read(1);
    t->needs_drained = needs_drained;
    go_home();
    t->needs_drained = false;
    t->awaits = NULL;
}

void search_point_after(void)
{
    if (s.check->mode == MODE_TSO || s.setup)
        return;
    thread *t = running_thread();
    search_read(2);
    if (!t->goes_on)
        go_home();
    t->goes_on = false;
}

/* In tso other threads run before the access to the word that follows.  In rc11 and imm they need
 * not run after it: a thread that does not read the word may as well run before, and one that does
 * must wait. */
void search_await_zero(const void *word)
{
    thread *t = running_thread();
    t->awaits = word;
    if (s.check->mode == MODE_TSO)
        return;
    if (x_peek(word) != 0)
        go_home();
    t->awaits = NULL;
    t->goes_on = true;
}

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
    thread *t = running_thread();
    machine_forget(s.running);
    t->history = machine_mix(0, position);
    t->spinning = false;
}

void x_join(void)
{
    thread *t = running_thread();
    t->joining = true;
    go_home();
    t->joining = false;
    machine_join(s.running, s.check->threads);
}

/* A retry makes sense only if another thread has made progress since the last one.  Two threads
 * that wait for a third make none. */
void x_yield(void)
{
    thread *t = running_thread();
    if (!t->spinning)
        t->saw = s.progress - 1; /* there may have been some since its first try */
    t->yielding = t->spinning = true;
    search_read(5);
    go_home();
    t->yielding = t->stale = false;
    t->saw = s.progress;
}
