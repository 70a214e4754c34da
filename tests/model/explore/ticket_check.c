/* A published task runs once, its fiber is resumed once and sees the result, and its ticket is
 * freed once.
 *
 * The deques have `capacity`.  Owner, a fiber: P publish a task, Y sync the newest, O the same, but
 * pop its ticket from the deque first.  Thief: S steal a ticket and run its task, then resume the
 * fiber if it waits for the task.  The fiber begins on thread 0 and moves to the thread that
 * resumes it, which runs the rest of its program. */
#include "explore/kind.h"

#include "deque/deque.h"
#include "explore/mem.h"
#include "task/ticket.h"

#include <string.h>

enum { MAX_TICKETS = 4, MAX_DEPTH = 2 };
enum { SLOT = 0, CONTEXT = MAX_DEPTH, TICKET = CONTEXT + 1 }; /* plain data */

static fi_deque *deque[MAX_THREADS];
static fi_ticket tickets[MAX_TICKETS];
static char slots[MAX_DEPTH];
static unsigned made, ran,
    freed; /* number of tickets; a bit for each task that ran and for each freed ticket */

static struct {
    const char *op; /* what it does next */
    fi_ticket *open[MAX_DEPTH];
    unsigned depth;
    bool parked;
} fiber;

static void setup(void)
{
    fi_deque_config config = {.capacity = program_now->capacity, .first_index = 1};
    made = ran = freed = 0;
    fiber.op = program_now->owner;
    fiber.depth = 0;
    fiber.parked = false;
    for (int i = 0; i < program_threads(); i++)
        if (fi_deque_new(fi_deque_kind_named("bounded"), &config, &deque[i]) < 0)
            x_fail(WRONG, "no deque of capacity %u", program_now->capacity);
}

static int number(const fi_ticket *t)
{
    return (int)(t - tickets);
}

static void run_task(const fi_ticket *t)
{
    int i = number(t);
    x_say("runs %c", 'A' + i);
    if (ran & 1u << i)
        x_fail(TWICE, "task %c runs twice", 'A' + i);
    ran |= 1u << i;
    x_data_read(SLOT + (int)((char *)t->slot - slots));
    x_data_write(SLOT + (int)((char *)t->slot - slots));
}

static void free_ticket(fi_ticket *t)
{
    int i = number(t);
    x_say("frees %c", 'A' + i);
    if (freed & 1u << i)
        x_fail(FREED, "ticket %c is freed twice", 'A' + i);
    freed |= 1u << i;
    x_data_write(TICKET + i);
    x_free(t, sizeof *t);
}

/* ---- the fiber, as in task/task.c ---- */

static void publish(int thread)
{
    if (made == MAX_TICKETS || fiber.depth == MAX_DEPTH)
        x_fail(LIMIT, "too many tickets");
    fi_ticket *t = &tickets[made++];
    x_say("publish %c", 'A' + number(t));
    x_data_write(SLOT + (int)fiber.depth);
    x_data_write(TICKET + number(t));
    fi_atomic_init(&t->state, FI_TICKET_CLAIMED); /* a record that is reused */
    fi_ticket_init(t, &slots[fiber.depth]);
    fiber.open[fiber.depth++] = t;
    if (fi_deque_push(deque[thread], t) < 0)
        x_fail(LIMIT, "the deque is full");
}

static bool pop_back(int thread, const fi_ticket *t)
{
    void *item = x_settle(fi_deque_pop(deque[thread]));
    if (item && item != t)
        fi_deque_push(deque[thread], item);
    return item == t;
}

static bool claim_back(int thread, fi_ticket *t, bool pop)
{
    if (pop && pop_back(thread, t)) {
        run_task(t);
        free_ticket(t);
        return true;
    }
    if (!fi_ticket_claim_back(t))
        return false;
    run_task(t); /* the ticket stays in the deque, and its slot may soon be reused */
    return true;
}

/* False: the fiber is parked, and another thread may resume it. */
static bool wait_done(fi_ticket *t)
{
    if (fi_ticket_is_done(t))
        return true;
    x_say("park");
    x_data_write(CONTEXT);
    fiber.parked = true;
    if (fi_ticket_park(t, &fiber))
        return false;
    fiber.parked = false;
    x_data_read(CONTEXT);
    return true;
}

/* Another thread ran the newest task. */
static void use_result(void)
{
    fi_ticket *t = fiber.open[--fiber.depth];
    x_say("uses the result of %c", 'A' + number(t));
    if (!(ran & 1u << number(t)))
        x_fail(LOST, "the result of %c is used before it is written", 'A' + number(t));
    x_data_read(SLOT + (int)fiber.depth);
    free_ticket(t);
}

static bool sync(int thread, bool pop)
{
    fi_ticket *t = fiber.open[fiber.depth - 1];
    x_say("sync %c", 'A' + number(t));
    if (claim_back(thread, t, pop)) {
        fiber.depth--;
        return true;
    }
    if (!wait_done(t))
        return false;
    use_result();
    return true;
}

/* `after` says what the thread does when the fiber has left it. */
static void run_fiber(int thread, uint64_t after)
{
    while (*fiber.op) {
        x_forget(after * 100 + strlen(fiber.op));
        char op = *fiber.op++;
        if (op == 'P')
            publish(thread);
        else if (!sync(thread, op == 'O'))
            return;
    }
}

static void resume(int thread, const void *waiter, uint64_t after)
{
    x_say("resume");
    if (waiter != &fiber || !fiber.parked)
        x_fail(TWICE, "the fiber is resumed and was not parked");
    fiber.parked = false;
    x_data_read(CONTEXT);
    use_result();
    run_fiber(thread, after);
}

/* ---- thieves ---- */

static void run_ticket(int thread, fi_ticket *t, uint64_t after)
{
    x_data_read(TICKET + number(t));
    if (!fi_ticket_start(t)) {
        free_ticket(t);
        return;
    }
    run_task(t);
    void *waiter = fi_ticket_finish(t);
    if (waiter)
        resume(thread, waiter, after);
}

static void steal(int thread, int victim, uint64_t after)
{
    void *item;
    x_say("steal");
    if (fi_deque_steal(deque[victim], &item, 1) == 1)
        run_ticket(thread, x_settle(item), after);
}

/* A ticket that was claimed back may still be in a deque. */
static void drain(void)
{
    if (fiber.parked || *fiber.op)
        x_fail(LOST, "the fiber is never resumed");
    for (int i = 0; i < program_threads(); i++)
        for (uint32_t k = 0; k < program_now->capacity; k++)
            steal(0, i, 0);
    if (ran != (1u << made) - 1 || freed != ran)
        x_fail(LOST, "a task is not run or a ticket not freed");
}

static void run(int thread)
{
    if (thread == 0) {
        run_fiber(0, 1);
        return;
    }
    for (const char *op = program_ops(thread); *op; op++) {
        x_forget(100 * strlen(op));
        steal(thread, 0, strlen(op));
    }
    x_forget(0);
}

static uint64_t summary(void)
{
    uint64_t bits = ran << MAX_TICKETS | freed;
    return ((bits << 8 | strlen(fiber.op)) << 4 | fiber.depth) << 1 | fiber.parked;
}

static const char *value_name(uint64_t value)
{
    static const char *const letters[] = {"A", "B", "C", "D"};
    for (int i = 0; i < MAX_TICKETS; i++)
        if (value == X_BITS(&tickets[i]))
            return letters[i];
    return value == X_BITS(&fiber) ? "fiber" : NULL;
}

static const program programs[] = {
    {2, 0, "PY", {"S"}},        {2, 0, "PO", {"S"}},        {2, 0, "PYPY", {"SS"}},
    {2, 0, "PPYY", {"SS"}},     {2, 0, "POPO", {"SS"}},     {2, 0, "PPOO", {"SS"}},
    {2, 0, "PPYY", {"S", "S"}}, {2, 0, "PPOY", {"S", "S"}}, {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("finishes relaxed", "ticket.finish", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("checks relaxed whether the task is done", "ticket.check", ORDER_RELAXED, RACE, RACE,
           RACE),
    WEAKER("parks relaxed", "ticket.park", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("reads the waiter relaxed", "ticket.waiter", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("finds the task done while it parks, by a relaxed load", "ticket.late", ORDER_RELAXED,
           RACE, RACE, RACE),
    WEAKER("claims back relaxed", "ticket.claim", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("frees a claimed ticket after a relaxed load", "ticket.claimed", ORDER_RELAXED, RACE,
           RACE, RACE),
    {.what = NULL},
};

const kind ticket_kind = {
    .name = "ticket",
    .owner = "PYO",
    .thief = "S",
    .programs = programs,
    .mutants = mutants,
    .threads = NUMBERED("worker"),
    .data = {"the slot", "the slot", "the fiber's context", "the ticket"},
    .items = true,
    .races = true,
    .setup = setup,
    .run = run,
    .at_end = drain,
    .summary = summary,
    .value_name = value_name,
};
