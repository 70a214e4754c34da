/* What must hold in every state, and when certain messages are sent. */
#include "explore_model.h"
#include "protocol/topology.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

enum { QUIET_WAVES_MAX = 3 };

void x_error(x_world *w, const char *format, ...)
{
    va_list args;

    if (w->error[0] != '\0')
        return;
    va_start(args, format);
    vsnprintf(w->error, sizeof w->error, format, args);
    va_end(args);
}

bool x_is_loot(const x_message *m)
{
    return m->kind == FI_LOOT || m->kind == FI_GIFT;
}

/* A rank that leaves has the number of the next run already. */
bool x_has_entered(const x_node *node)
{
    return node->rank.phase == FI_RUNNING || node->rank.phase == FI_ENDING;
}

static unsigned loots_under_way(const x_world *w, unsigned run)
{
    unsigned n = 0;

    for (unsigned i = 0; i < w->n_messages; i++)
        n += w->messages[i].run == run && x_is_loot(&w->messages[i]);
    return n;
}

/* ---- the end ---- */

/* No work exists, and all ranks have entered the run. */
static bool is_quiet(const x_world *w, unsigned run)
{
    for (unsigned i = 0; i < X_RANKS; i++) {
        const x_node *node = &w->nodes[i];

        if (node->rank.run != run || !x_has_entered(node) || node->items > 0 || node->outbox > 0 ||
            node->has_result)
            return false;
    }
    return loots_under_way(w, run) == 0;
}

/* A lifeline is armed if and only if the other rank remembers this one. */
static void lifelines_check(x_world *w, unsigned i)
{
    const fi_thief *t = &w->nodes[i].rank.thief;

    for (unsigned j = 0; j < 32; j++) {
        unsigned other = fi_lifeline(i, j);
        bool is_armed = (t->armed >> j & 1) != 0;

        if ((w->nodes[i].rank.lifelines >> j & 1) == 0 ||
            (t->is_open && t->is_life && t->asked == other))
            continue;
        if ((t->early >> j & 1) != 0 ||
            is_armed != ((w->nodes[other].rank.victim.remembered >> j & 1) != 0))
            x_error(w, "the end: lifeline of rank %u to rank %u: armed %d", i, other, is_armed);
    }
}

void x_rules_sent(x_world *w, const x_message *m)
{
    if (m->kind != FI_END || m->to != 1)
        return;
    if (!is_quiet(w, m->run))
        x_error(w, "the end of run %u is announced, but there is work", m->run);
    for (unsigned i = 0; i < X_RANKS; i++)
        lifelines_check(w, i);
}

void x_rules_waves(x_world *w, uint64_t closed)
{
    const fi_rank *root = &w->nodes[0].rank;
    x_run *run;

    if (closed == 0 || root->phase != FI_RUNNING || !is_quiet(w, root->run))
        return;
    run = &w->runs[root->run - 1];
    run->quiet_waves = (uint8_t)(run->quiet_waves + closed);
    if (run->quiet_waves >= QUIET_WAVES_MAX)
        x_error(w, "%u waves after the last item have not ended the run", run->quiet_waves);
}

/* ---- results ---- */

/* Rank 0 leaves first.  Only LEAVE, and STOP which is a hint, may be under way then. */
static void stray_check(x_world *w, unsigned run)
{
    for (unsigned i = 0; i < w->n_messages; i++) {
        const x_message *m = &w->messages[i];

        if (m->run == run && m->kind != FI_LEAVE && m->kind != FI_STOP)
            x_error(w, "%s from rank %u to rank %u is under way when rank 0 leaves",
                    fi_kind_name(m->kind), m->from, m->to);
    }
}

void x_rules_left(x_node *node, int result)
{
    x_world *w = node->world;
    unsigned number = node->rank.run - 1, rank = node->rank.set.rank;
    x_run *run = &w->runs[number - 1];
    bool is_mismatch = w->bounds->has_mismatch && number == 1;

    if (rank == 0)
        stray_check(w, number);
    if (run->left++ == 0)
        run->result = (int8_t)result;
    if (result != run->result)
        x_error(w, "rank %u leaves with result %d, another one with %d", rank, result, run->result);
    if ((result != 0) != (run->has_result || is_mismatch))
        x_error(w, "rank %u leaves with result %d", rank, result);
    if (is_mismatch && !run->has_result && result != -EPROTO)
        x_error(w, "different calls give result %d", result);
    if (result == 0 && node->acc != run->processed)
        x_error(w, "rank %u leaves with %u of %u items", rank, node->acc, run->processed);
}

/* ---- every state ---- */

/* Questions of the rank, or answers to them, that are somewhere. */
static unsigned questions_of(const x_world *w, unsigned rank)
{
    unsigned n = 0;

    for (unsigned i = 0; i < w->n_messages; i++) {
        const x_message *m = &w->messages[i];

        n += m->from == rank && (m->kind == FI_ASK || m->kind == FI_LIFE);
        n += m->to == rank && (m->kind == FI_NO || m->kind == FI_LOOT);
    }
    for (unsigned i = 0; i < X_RANKS; i++) {
        const fi_victim *v = &w->nodes[i].rank.victim;

        for (unsigned k = 0; k < v->n; k++)
            n += v->asks[(v->first + k) % FI_ASKS_MAX].from == rank;
    }
    return n;
}

/* Of both runs together: a rank has the items of its own run only. */
static unsigned items_of(const x_world *w)
{
    unsigned n = 0;

    for (unsigned i = 0; i < X_RANKS; i++)
        n += (unsigned)w->nodes[i].items + w->nodes[i].outbox;
    for (unsigned i = 0; i < w->n_messages; i++)
        n += x_is_loot(&w->messages[i]) ? w->messages[i].body : 0;
    for (unsigned i = 0; i < X_RUNS_MAX; i++)
        n += (unsigned)w->runs[i].processed + w->runs[i].dropped;
    return n;
}

void x_rules_state(x_world *w)
{
    unsigned made = (unsigned)w->runs[0].made + w->runs[1].made;

    for (unsigned i = 0; i < X_RANKS; i++) {
        unsigned expected = w->nodes[i].rank.thief.is_open ? 1 : 0, n = questions_of(w, i);

        if (n != expected)
            x_error(w, "rank %u has %u open questions instead of %u", i, n, expected);
    }
    if (items_of(w) != made)
        x_error(w, "%u items instead of %u", items_of(w), made);
}

bool x_is_finished(const x_world *w)
{
    return w->runs[w->bounds->runs - 1].left == X_RANKS;
}

void x_rules_stuck(x_world *w)
{
    if (!x_is_finished(w))
        x_error(w, "deadlock");
}
