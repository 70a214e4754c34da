/* Small programs, each for one part of the source, and what must hold in every execution of them.
 */
#ifndef EXPLORE_PROGRAM_H
#define EXPLORE_PROGRAM_H

#include "explore/explore.h"

enum { MAX_THIEVES = 3 };

/* Each operation is a letter. */
typedef struct program {
    const char *kind;
    uint32_t capacity, batch; /* of a deque */
    const char *owner;
    const char *thieves[MAX_THIEVES];
} program;

/* The owner and its thieves. */
static inline int program_threads(const program *p)
{
    int n = 1;
    while (n <= MAX_THIEVES && p->thieves[n - 1])
        n++;
    return n;
}

/* Prepare *c, but for its mode and weakenings.  The program is kept by reference. */

/* locked, bounded, batch, half.  Owner: P push the next item, O pop; then it joins and drains.
 * Thief: S steal.  Each item that was pushed is obtained exactly once. */
void deque_check(check *c, const program *p);

/* use_count.  Owner: C close, replace the object, open.  Thief: U enter, use the object, leave.  The
 * plain accesses to the object never race. */
void use_count_check(check *c, const program *p);

/* idle.  All: P put a piece of work and notify, T find work and take a piece, sleeping when there is
 * none, D the same with a deadline for the first sleep, S stop everybody, B (alone) like T
 * for a worker that is asleep from the start, G borrow a worker, search, and give it back, H keep it until others have done all work,
 * Q (once) wait until all workers sleep and no work is left, for which each needs a T that finds none.  A thread that has come to its end is busy for ever.
 * No work is left while a worker sleeps, nobody sleeps after a stop, and one thread uses a worker at a time. */
void idle_check(check *c, const program *p);

/* poll, with a timer from the start if `capacity` is 1, and something watched if `batch` is 1.  All: T find work and take it, sleeping when there
 * is none, D the same, and one deadline comes too early, P put some, W have something watched, E it tells something, A add an earlier timer, G borrow a worker and give it back, K keep
 * it for ever.  While a worker sleeps, no work is left, one of them asks the poller if something is watched, and one sleeps no longer
 * than until the next timer. */
void poll_check(check *c, const program *p);

/* fork, with `capacity` private tasks.  Owner, a fiber: N spawn, Y sync, each of which answers when it is
 * asked; M, first of all, makes it.  Thief: T find a public task and take it, asking for one before it sleeps.  While a worker
 * sleeps, no task is public, and the fiber has none or is asked. */
void task_bounds_check(check *c, const program *p);

/* ticket, in deques of `capacity`.  Owner, a fiber: P publish a task, Y sync the newest, O the same, but
 * look for its ticket in the deque first.  Thief: S steal a ticket and run its task, then the rest of the
 * fiber if that waits for it.  Each task runs once, its result is seen, and its ticket is freed once. */
void ticket_check(check *c, const program *p);

/* oneshot.  Owner: G write the result and set the event.  Thief: W wait, use the result, free the
 * event. */
void oneshot_check(check *c, const program *p);

/* rundown.  Owner: O initialise the runtime and open, S close, wait and free it.  Thief: E enter, use
 * it and leave, A enter unchecked, wake the fiber that keeps it from being freed (the runtime exists
 * from the start then), use it and leave.  The runtime is used only while it exists. */
void rundown_check(check *c, const program *p);

/* record_pool, with `capacity` magazines in the depot.  All: P push a new one, T pop one, B push the
 * oldest popped one again.  Each pushed magazine is popped once, by a thread that sees its records. */
void record_pool_check(check *c, const program *p);

/* pending, of a job if `capacity` is 1.  All: E end a member (as first letter: one that was there from
 * the start), R add a member, C add a member unless all are done, and end it, W wait until all are
 * done, D the same with a deadline, F the same and free the group.  Waiters are woken and see all
 * work; the job is finished once. */
void pending_check(check *c, const program *p);

/* deps.  All: A, B, J submit that job, a J depends on A, b J on B, w A on B (which then waits for
 * another job from the start), l B on J.  Each runs once, after its dependencies. */
void deps_check(check *c, const program *p);

/* ref.  All: D the job is done, R its user releases it, H its user hands it over, N take the record,
 * if it is free, for another job, to which later letters of the thread apply.  The record is freed
 * once. */
void ref_check(check *c, const program *p);

/* biased_lock, two of them; `capacity` and `batch` are the lock ids of the initial biases.  All: L
 * lock and unlock the first, M the second, N the first on the slow path, B the first and, on the slow
 * path, the second.  One thread holds a lock at a time. */
void biased_lock_check(check *c, const program *p);

/* wait.  Owner, a fiber: W wait, then use the memory for something else.  Thief: C cancel the fiber, L look at what it waits for, E bring
 * that, if it waits just then.  Nobody uses the wait when it is over, and a fiber that is cancelled does not wait. */
void fiber_pin_check(check *c, const program *p);

/* timer.  All: A add the thread's timer, R remove it and reuse its memory, F (one thread only) fire all
 * timers.  A removed timer does not fire, and its fire() has returned. */
void timer_check(check *c, const program *p);

/* freeze, of a fiber that is ready from the start.  All: R run it, if it is ready, until it waits again, H the same, and there it makes way
 * for another, L freeze it and look at its stack and its wait, if it is on no worker.  Nobody else uses these meanwhile. */
void freeze_check(check *c, const program *p);

/* init_flag.  All: S initialise an object and publish the one that was chosen, F initialise one and
 * publish it if no other was, G use the published one; N create a storage key, D read the destructors
 * of all keys.  A published object is initialised. */
void init_flag_check(check *c, const program *p);

/* watch.  Owner: L look around, and sleep for ever if all workers do.  Thief: T a worker, finds work and is busy for ever, P put some, K borrow a worker for ever, C change the
 * watcher's word.  The watcher does not sleep for ever when a worker is awake, or when it has not seen a change. */
void watchdog_state_check(check *c, const program *p);

/* eventcount.  Owner: L wait until all conditions are true.  Thief: R make a condition true and notify. */
void eventcount_check(check *c, const program *p);

/* syscall_guard, of two files.  Owner: X, Y close the first, the second.  Thief: A, B make a system call on the first, the second, unless it
 * is being closed. */
void syscall_guard_check(check *c, const program *p);

/* event_ring, of `capacity` events.  Owner: P append an event.  Thief: C copy all events.  A valid copy
 * is the event that was appended. */
void event_ring_check(check *c, const program *p);

#endif
