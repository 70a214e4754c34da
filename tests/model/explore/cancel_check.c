/* A fiber that enters the list of a scope at its first wait is cancelled with the scope, and with
 * the parent that the scope gets.  Its waiter is not used after it has left the list.
 *
 * Owner, a fiber: W wait, leave the list, and reuse the memory of the waiter.  Thief: C cancel the
 * scope, A attach it to a parent, which has a parent, and cancel the parent, N end the wait, if there is one. */
#include "explore/kind.h"

#include "base/lock.h"
#define fi_lock_lock   x_lock
#define fi_lock_unlock x_unlock
#include "base/oneshot.h"
#include "wait/cancel.h"
#include "wait/cancel_list.h"

/* The waiter; what the waker writes; the initialised parent; the record of the fiber. */
enum { WAIT, RESULT, PARENT, FIBER };

FI_ATOMIC(uint32_t) fi_cancel_n_cancelled;

static fi_fiber fiber;
static fi_cancel_scope scope, parent, outermost;
static char wait;
static FI_ATOMIC(uint32_t) event; /* for the parked fiber */
static fi_lock lock;
static bool in_queue, has_left;

static void scope_setup(fi_cancel_scope *s, const char *lock_name, const char *cancelled,
                        const char *up, const char *outer)
{
    s->first = NULL;
    s->visit = 0;
    x_init(&s->lock.word, 0, lock_name);
    x_init(&s->cancelled, 0, cancelled);
    x_init(&s->parent, 0, up);
    x_init(&s->outer, 0, outer);
}

static void setup(void)
{
    in_queue = has_left = false;
    x_init(&fi_cancel_n_cancelled, 0, "cancelled");
    scope_setup(&scope, "scope lock", "scope", "up", "outer");
    scope_setup(&parent, "parent lock", "parent", "parent up", "parent outer");
    scope_setup(&outermost, "outermost lock", "outermost", "outermost up", "outermost outer");
    fiber.cancel.root = NULL;
    fiber.cancel.in_group.visit = 0;
    x_init(&fiber.cancel.in_group.list, 0, "list");
    x_init(&fiber.cancel.ignored, 0, "ignored");
    x_init(&fiber.waiting, 0, "waiting");
    x_init(&fiber.pins, 0, "pins");
    x_init(&fiber.cancel_state, FI_CANCEL_OUTSIDE, "state");
    x_init(&event, 0, "event");
    x_init(&lock.word, 0, "lock");
}

/* ---- the fiber, as in wait/waitq.c and wait/cancel.c ---- */

static bool enter(void)
{
    fi_cancel_state_change(&fiber, FI_CANCEL_OUTSIDE, 0);
    fi_cancel_node_enter(&fiber.cancel.in_group, &fiber, &scope);
    if (fi_cancel_outermost(&scope) != &scope)
        x_data_read(PARENT);
    return fi_load_relaxed(&fiber.cancel_state) & FI_CANCEL_DONE;
}

static bool enqueue(void)
{
    x_lock(&lock);
    in_queue = true;
    uint32_t state = fi_fiber_begin_wait(&fiber, (fi_waiter *)(void *)&wait);
    bool cancelled = state & FI_CANCEL_OUTSIDE ? enter() : state & FI_CANCEL_DONE;
    if (cancelled)
        in_queue = false;
    x_unlock(&lock);
    return !cancelled;
}

static void wait_and_leave(uint64_t position)
{
    x_say("initialise the waiter");
    x_data_write(WAIT);
    x_data_write(RESULT);
    if (enqueue()) {
        x_say("park");
        fi_oneshot_wait(&event);
    }
    x_forget(position + 1);
    fi_fiber_end_wait(&fiber);
    x_say("reuse the memory");
    x_data_write(WAIT);
    x_data_write(RESULT);
    fi_cancel_node_leave(&fiber.cancel.in_group);
    fi_fiber_await_unpinned(&fiber);
    x_say("use the fiber for other work");
    has_left = true;
    x_data_write(FIBER);
}

/* ---- the other threads ---- */

static void wake(void)
{
    bool removed;

    x_lock(&lock);
    removed = in_queue;
    in_queue = false;
    x_unlock(&lock);
    if (removed) {
        x_say("wake it");
        x_data_write(RESULT);
        fi_oneshot_set(&event);
    }
}

static void end_wait(void)
{
    if (has_left)
        x_fail(WRONG, "a fiber is cancelled after it has left");
    fi_fiber_pin_fence();
    if (fi_fiber_load_wait(&fiber)) {
        x_data_read(WAIT);
        wake();
    }
    x_data_read(FIBER);
    if (!FI_FAULT(cancel.visit_pins))
        fi_fiber_unpin(&fiber);
}

static void cancel(fi_cancel_scope *s, fi_cancel_scope *walked)
{
    fi_fiber *batch[1];
    unsigned n = 0;

    x_say("cancel");
    fi_fetch_add_relaxed(&fi_cancel_n_cancelled, 1u);
    fi_store_relaxed(&s->cancelled, 1);
    fi_cancel_walk(walked, fi_cancel_walk_begin(walked), batch, &n);
    if (n > 0)
        end_wait();
}

static void operate(const operation *op)
{
    if (op->letter == 'W') {
        wait_and_leave(op->position);
    } else if (op->letter == 'C') {
        cancel(&scope, &scope);
    } else if (op->letter == 'N') {
        wake();
    } else {
        x_data_write(PARENT);
        fi_cancel_set_parent(&parent, &outermost);
        fi_cancel_set_parent(&scope, &parent);
        fi_cancel_list_attach(&scope);
        cancel(&parent, &scope);
    }
}

static const char *at_rest(void)
{
    return program_has("CA") ? "the scope is cancelled, and the fiber waits" : "";
}

static uint64_t summary(void)
{
    return in_queue + 2u * (scope.first != NULL) + 4u * (outermost.first != NULL) + 8u * has_left +
           16u * (scope.visit + 4u * outermost.visit + 16u * fiber.cancel.in_group.visit);
}

static const program programs[] = {
    {0, 0, "W", {"C"}},
    {0, 0, "W", {"A"}},
    {0, 0, "W", {"A", "N"}},
    {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    FAULT("does not check the scope after entering", "cancel.check_entered", HANG, HANG, HANG),
    FAULT("visits a fiber without a pin", "cancel.visit_pins", RACE, RACE, RACE),
    FAULT("moves a fiber through no list", "cancel.move_keeps", WRONG, WRONG, WRONG),
    WEAKER("removes a fiber relaxed", "cancel.remove", ORDER_RELAXED, WRONG, WRONG, OK),
    WEAKER("leaves relaxed", "cancel.leave", ORDER_RELAXED, WRONG, WRONG, OK),
    WEAKER("attaches relaxed", "cancel.attach", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("loads the parent relaxed", "cancel.parent", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("stores the outermost relaxed", "cancel.set_outer", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("loads the outermost relaxed", "cancel.outer", ORDER_RELAXED, RACE, RACE, RACE),
    {.what = NULL},
};

const kind cancel_kind = {
    .name = "cancel",
    .owner = "W",
    .thief = "CAN",
    .programs = programs,
    .mutants = mutants,
    .threads = OWNER_AND("fiber", "thread"),
    .data = {"the waiter", "the result of the wait", "the ancestors", "the fiber"},
    .races = true,
    .setup = setup,
    .operate = operate,
    .summary = summary,
    .at_rest = at_rest,
};
