#include "explore_model.h"

#include "sim/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL       1u
#define OTHER_CALL 2u
#define EXPIRED    0
#define NOW        0
#define ANSWER_NS  1
#define RESULT     7

/* ---- messages ---- */

static int message_compare(const x_message *a, const x_message *b)
{
    return memcmp(a, b, sizeof *a);
}

/* Keep the messages sorted: two worlds with the same messages are the same state. */
static void message_add(x_world *w, x_message m)
{
    unsigned i = w->n_messages;

    if (i == X_MESSAGES_MAX) {
        x_error(w, "more than %d messages are under way", X_MESSAGES_MAX);
        return;
    }
    for (; i > 0 && message_compare(&w->messages[i - 1], &m) > 0; i--)
        w->messages[i] = w->messages[i - 1];
    w->messages[i] = m;
    w->n_messages++;
}

static x_message message_remove(x_world *w, unsigned i)
{
    x_message m = w->messages[i];

    w->n_messages--;
    for (; i < w->n_messages; i++)
        w->messages[i] = w->messages[i + 1];
    return m;
}

/* The body of a loot has one byte for each item.  An accumulator is one byte.  The number of a wave
 * is left out: see explore_state.c. */
static x_message message_pack(x_world *w, unsigned to, const fi_packet *p)
{
    uint64_t a = p->head.kind == FI_WAVE ? 0 : p->head.a;
    x_message m = {
        .kind = (uint8_t)p->head.kind,
        .from = (uint8_t)p->head.from,
        .to = (uint8_t)to,
        .run = (uint8_t)p->head.run,
        .call = (uint8_t)p->head.call,
        .a = (int8_t)a,
        .b = (uint8_t)p->head.b,
    };

    if (a != (uint64_t)(int64_t)m.a || p->head.b != m.b)
        x_error(w, "the counters of a %s are too large", fi_kind_name(m.kind));
    m.body = x_is_loot(&m) ? (uint8_t)p->size : p->size > 0 ? p->body[0] : 0;
    return m;
}

static fi_packet *message_unpack(const x_message *m)
{
    bool has_acc = m->kind == FI_DONE || m->kind == FI_LEAVE;
    fi_packet *p = fi_packet_new(has_acc ? 1 : x_is_loot(m) ? m->body : 0);

    if (!p)
        abort();
    p->head = (fi_header){
        .kind = m->kind,
        .run = m->run,
        .call = m->call,
        .from = m->from,
        .a = (uint64_t)(int64_t)m->a,
        .b = m->b,
    };
    if (has_acc)
        p->body[0] = m->body;
    return p;
}

/* ---- host of the protocol ---- */

static void host_send(void *ctx, unsigned to, fi_packet *p)
{
    x_node *node = ctx;
    x_message m = message_pack(node->world, to, p);

    fi_packet_free(p);
    x_rules_sent(node->world, &m);
    message_add(node->world, m);
}

static fi_activity host_activity(void *ctx)
{
    const x_node *node = ctx;

    if (node->has_result || node->items > 1)
        return FI_BUSY;
    if (node->items == 1)
        return node->world->bounds->is_early ? FI_HUNGRY : FI_BUSY;
    return node->outbox > 0 ? FI_HUNGRY : FI_PASSIVE;
}

static void host_want(void *ctx, unsigned n)
{
    x_node *node = ctx;

    node->wanted = (uint8_t)n;
}

static void host_open(void *ctx, fi_packet *p)
{
    x_node *node = ctx;

    if (p->head.call != 0 && p->head.call != node->rank.call)
        x_error(node->world, "rank %u opens a loot of another call", node->rank.set.rank);
    node->items = (uint8_t)(node->items + p->size);
    node->can_split = false;
    node->has_opened = true;
    fi_packet_free(p);
}

static x_run *run_of(const x_node *node)
{
    return &node->world->runs[node->rank.run - 1];
}

static void host_drop(void *ctx)
{
    x_node *node = ctx;

    run_of(node)->dropped = (uint8_t)(run_of(node)->dropped + node->items + node->outbox);
    node->items = node->outbox = 0;
    node->can_split = false;
}

static void host_combine(void *ctx, const void *other)
{
    x_node *node = ctx;

    node->acc = (uint8_t)(node->acc + *(const uint8_t *)other);
}

static void host_leave(void *ctx, int result)
{
    x_node *node = ctx;

    x_rules_left(node, result);
    node->acc = 0;
}

static void host_fail(void *ctx, int error)
{
    const x_node *node = ctx;

    x_error(node->world, "rank %u: the protocol reports error %d", node->rank.set.rank, error);
}

static const fi_host host = {
    .send = host_send,
    .activity = host_activity,
    .want = host_want,
    .open = host_open,
    .drop = host_drop,
    .combine = host_combine,
    .leave = host_leave,
    .fail = host_fail,
};

void x_world_init(x_world *w, const x_bounds *bounds)
{
    *w = (x_world){.bounds = bounds};
    for (unsigned i = 0; i < X_RANKS; i++) {
        fi_rank_settings set = {
            .rank = i,
            .ranks = X_RANKS,
            .random_tries = bounds->random_tries,
            .answer_ns = ANSWER_NS,
        };

        w->nodes[i].world = w;
        fi_rank_init(&w->nodes[i].rank, &set, &host, &w->nodes[i]);
    }
}

/* ---- actions ---- */

static void thread_handle(x_node *node)
{
    fi_packet *p;

    node->rings = false;
    if (node->has_result) {
        node->has_result = false;
        fi_rank_stop(&node->rank, RESULT);
    }
    if (node->outbox > 0) {
        p = fi_packet_new(node->outbox);
        if (!p)
            abort();
        node->outbox = 0;
        if (!fi_rank_give(&node->rank, p))
            host_open(node, p); /* no thief waits any more */
    }
    fi_rank_step(&node->rank, NOW);
}

static void enter(x_node *node)
{
    bool is_other =
        node->world->bounds->has_mismatch && node->rank.run == 1 && node->rank.set.rank == 2;

    node->items = (uint8_t)node->world->bounds->first[node->rank.set.rank];
    run_of(node)->made = (uint8_t)(run_of(node)->made + node->items);
    fi_rank_begin(&node->rank, is_other ? OTHER_CALL : CALL, &node->acc, 1, NOW);
}

static void process(x_node *node, unsigned n_children, bool has_result)
{
    node->items--;
    node->acc++;
    run_of(node)->processed++;
    node->items = (uint8_t)(node->items + n_children);
    run_of(node)->made = (uint8_t)(run_of(node)->made + n_children);
    node->can_split = true;
    if (has_result) {
        node->has_result = true;
        run_of(node)->has_result = true;
    }
    node->rings |=
        has_result || node->items == 0 || (node->items == 1 && node->world->bounds->is_early);
}

static void split(x_node *node)
{
    node->outbox = node->items / 2;
    node->items = (uint8_t)(node->items - node->outbox);
    node->can_split = false;
    node->rings = true;
}

static void deliver(x_world *w, unsigned i)
{
    x_message m = message_remove(w, i);
    x_node *node = &w->nodes[m.to];

    node->has_opened = false;
    fi_rank_receive(&node->rank, message_unpack(&m), NOW);
    if (x_is_loot(&m) && !node->has_opened)
        w->runs[m.run - 1].dropped = (uint8_t)(w->runs[m.run - 1].dropped + m.body);
    if (w->bounds->has_batches)
        node->rings = true;
    else
        thread_handle(node);
}

static void act(x_world *w, x_action action)
{
    x_node *node = &w->nodes[action.rank];

    switch ((x_action_kind)action.kind) {
    case X_ENTER:
        enter(node);
        break;
    case X_PROCESS:
        process(node, action.detail, false);
        break;
    case X_RESULT:
        process(node, 0, true);
        break;
    case X_SPLIT:
        split(node);
        break;
    case X_WAKE:
        thread_handle(node);
        break;
    case X_EXPIRE:
        node->rank.victim.asks[node->rank.victim.first].until = EXPIRED;
        thread_handle(node);
        break;
    case X_DELIVER:
        deliver(w, action.detail);
        break;
    case X_ACTIONS:
        break;
    }
}

/* A state of the random numbers whose next number chooses the first or the second of the two other
 * ranks. */
static uint64_t random_for(uint8_t coin)
{
    uint64_t state = 0, copy = 0;

    while (fi_random_below(&copy, 2) != coin)
        copy = ++state;
    return state;
}

bool x_world_act(x_world *w, x_action action)
{
    x_node *node = &w->nodes[action.rank];
    uint64_t random = random_for(action.coin);
    bool has_drawn;

    node->rank.random = random;
    act(w, action);
    has_drawn = node->rank.random != random;
    node->rank.random = 0;
    x_rules_waves(w, w->nodes[0].rank.counters.waves);
    node->rank.counters = (fi_rank_counters){0};
    x_rules_state(w);
    return has_drawn;
}

/* ---- possible actions ---- */

static bool is_working(const x_node *node)
{
    return node->items > 0 && x_has_entered(node) && !node->has_result;
}

/* Items that handlers may still push in this run.  The first items of ranks that have not entered
 * it are reserved. */
static unsigned spare_items(const x_world *w, const x_node *node)
{
    unsigned used = run_of(node)->made;

    for (unsigned i = 0; i < X_RANKS; i++) {
        const x_node *other = &w->nodes[i];

        if (other->rank.run < node->rank.run ||
            (other->rank.run == node->rank.run && !x_has_entered(other)))
            used += w->bounds->first[i];
    }
    return w->bounds->items - used;
}

static unsigned lane_actions(const x_world *w, unsigned i, x_action *list)
{
    const x_node *node = &w->nodes[i];
    unsigned n = 0, spare;

    if (!is_working(node))
        return 0;
    spare = spare_items(w, node);
    for (uint8_t c = 0; c <= X_CHILDREN_MAX && c <= spare; c++)
        list[n++] = (x_action){.kind = X_PROCESS, .rank = (uint8_t)i, .detail = c};
    if (w->bounds->has_results)
        list[n++] = (x_action){.kind = X_RESULT, .rank = (uint8_t)i};
    if (node->wanted > 0 && node->outbox == 0 && node->can_split && node->items > 1)
        list[n++] = (x_action){.kind = X_SPLIT, .rank = (uint8_t)i};
    return n;
}

static unsigned rank_actions(const x_world *w, unsigned i, x_action *list)
{
    const x_node *node = &w->nodes[i];
    unsigned n = lane_actions(w, i, list);

    if (node->rank.phase == FI_BETWEEN && node->rank.run <= w->bounds->runs)
        list[n++] = (x_action){.kind = X_ENTER, .rank = (uint8_t)i};
    if (node->rings)
        list[n++] = (x_action){.kind = X_WAKE, .rank = (uint8_t)i};
    if (w->bounds->has_expiry && node->rank.victim.n > 0)
        list[n++] = (x_action){.kind = X_EXPIRE, .rank = (uint8_t)i};
    return n;
}

unsigned x_world_actions(const x_world *w, x_action list[X_ACTIONS_MAX])
{
    unsigned n = 0;

    for (unsigned i = 0; i < X_RANKS; i++)
        n += rank_actions(w, i, list + n);
    for (unsigned i = 0; i < w->n_messages; i++)
        if (i == 0 || message_compare(&w->messages[i - 1], &w->messages[i]) != 0)
            list[n++] =
                (x_action){.kind = X_DELIVER, .rank = w->messages[i].to, .detail = (uint8_t)i};
    return n;
}

void x_action_print(const x_world *w, x_action action)
{
    static const char *const names[X_ACTIONS] = {
        [X_ENTER] = "enters the run",     [X_PROCESS] = "processes an item, children",
        [X_RESULT] = "returns a result",  [X_SPLIT] = "splits its bag",
        [X_WAKE] = "wakes its thread",    [X_EXPIRE] = "refuses its oldest question",
        [X_DELIVER] = "receives message",
    };
    const x_message *m = &w->messages[action.detail];

    if (action.kind == X_DELIVER)
        printf("rank %u receives %s of rank %u, run %u, a %d, b %u, body %u\n", action.rank,
               fi_kind_name(m->kind), m->from, m->run, m->a, m->b, m->body);
    else
        printf("rank %u %s %u\n", action.rank, names[action.kind], action.detail);
}
