/* A state as bytes.  Left out is what is the same in all states: settings, counters, times, and the
 * state of the random numbers, which the search chooses.  Left out is also the number of the wave:
 * nothing depends on it, and it grows without limit while a loot is under way. */
#include "explore_model.h"

#include <string.h>

/* A new field must be added below. */
#ifndef FI_PROTOCOL_FAULTS
_Static_assert(sizeof(fi_termination) == 72 && sizeof(fi_thief) == 32, "encode each field");
#endif
_Static_assert(sizeof(fi_victim) == FI_ASKS_MAX * sizeof(fi_ask) + 16, "encode each field");

/* Writes to bytes, or reads from them, so that one list of fields serves both. */
typedef struct coder {
    uint8_t *out;
    const uint8_t *in;
    bool is_reading;
    unsigned n;
    bool is_too_large; /* a value or the state */
} coder;

static uint64_t byte_code(coder *c, uint64_t value)
{
    if (c->is_reading)
        return c->in[c->n++];
    c->is_too_large |= value > UINT8_MAX || c->n == X_STATE_MAX;
    if (!c->is_too_large)
        c->out[c->n++] = (uint8_t)value;
    return value;
}

#define CODE(c, field) ((field) = (__typeof__(field))byte_code((c), (uint64_t)(field)))

/* From -128 to 127. */
static int signed_code(coder *c, int value)
{
    return (int8_t)byte_code(c, (uint8_t)value);
}

static void thief_code(coder *c, fi_thief *t)
{
    bool is_hungry = t->hungry_since >= 0;

    CODE(c, t->is_open);
    CODE(c, t->is_life);
    CODE(c, t->asked);
    CODE(c, t->tries);
    CODE(c, t->armed);
    CODE(c, t->early);
    CODE(c, is_hungry);
    t->hungry_since = is_hungry ? 0 : -1;
}

static void victim_code(coder *c, fi_victim *v)
{
    CODE(c, v->n);
    CODE(c, v->remembered);
    CODE(c, v->wanted);
    for (unsigned i = 0; i < v->n; i++) {
        fi_ask *a = &v->asks[(v->first + i) % FI_ASKS_MAX];

        CODE(c, a->from);
        CODE(c, a->is_life);
        if (c->is_reading)
            a->until = 1;
    }
}

static void termination_code(coder *c, fi_termination *e)
{
    CODE(c, e->sent);
    CODE(c, e->opened);
    CODE(c, e->has_wave);
#ifdef FI_PROTOCOL_FAULTS
    CODE(c, e->was_passive);
    CODE(c, e->last_sent);
#endif
    CODE(c, e->counts_missing);
    CODE(c, e->sum_sent);
    CODE(c, e->sum_opened);
    CODE(c, e->has_last);
    CODE(c, e->last_opened);
}

static void node_code(coder *c, x_node *node)
{
    fi_rank *r = &node->rank;

    CODE(c, r->run);
    CODE(c, r->call);
    CODE(c, r->early_call);
    CODE(c, r->phase);
    r->result = signed_code(c, r->result);
    CODE(c, r->acc_size);
    CODE(c, r->dones_missing);
    thief_code(c, &r->thief);
    victim_code(c, &r->victim);
    termination_code(c, &r->end);
    CODE(c, node->items);
    CODE(c, node->outbox);
    CODE(c, node->wanted);
    CODE(c, node->acc);
    CODE(c, node->can_split);
    CODE(c, node->rings);
    CODE(c, node->has_result);
}

static void run_code(coder *c, x_run *run)
{
    CODE(c, run->made);
    CODE(c, run->processed);
    CODE(c, run->dropped);
    CODE(c, run->left);
    CODE(c, run->quiet_waves);
    CODE(c, run->has_result);
    run->result = (int8_t)signed_code(c, run->result);
}

static void world_code(coder *c, x_world *w)
{
    for (unsigned i = 0; i < X_RANKS; i++)
        node_code(c, &w->nodes[i]);
    for (unsigned i = 0; i < X_RUNS_MAX; i++)
        run_code(c, &w->runs[i]);
    CODE(c, w->n_messages);
}

unsigned x_state_encode(const x_world *w, uint8_t *bytes)
{
    coder c = {.out = bytes};

    /* Writing does not change the world. */
    world_code(&c, (x_world *)(uintptr_t)w);
    if (c.is_too_large)
        return 0;
    memcpy(bytes + c.n, w->messages, w->n_messages * sizeof *w->messages);
    return c.n + (unsigned)(w->n_messages * sizeof *w->messages);
}

void x_state_decode(x_world *w, const x_bounds *bounds, const uint8_t *bytes)
{
    coder c = {.in = bytes, .is_reading = true};

    x_world_init(w, bounds);
    world_code(&c, w);
    memcpy(w->messages, bytes + c.n, w->n_messages * sizeof *w->messages);
    for (unsigned i = 0; i < X_RANKS; i++)
        w->nodes[i].rank.acc = &w->nodes[i].acc;
}
