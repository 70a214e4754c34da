/* What every simulation asserts.  The checks see the whole world; a rank does not. */
#include "protocol/topology.h"
#include "sim/world.h"

#include <errno.h>
#include <inttypes.h>

enum { QUIET_WAVES_MAX = 3 };

fi_run_ledger *fi_ledger_of(fi_world *w, uint32_t run)
{
    return &w->ledger.runs[run % FI_SIM_RUNS_AT_ONCE];
}

/* STOP may outlive its run.  BEAT belongs to no run. */
static bool belongs_to_run(const fi_packet *p)
{
    return p->head.kind != FI_STOP && p->head.kind != FI_BEAT;
}

static bool is_loot(const fi_packet *p)
{
    return p->head.kind == FI_LOOT || p->head.kind == FI_GIFT;
}

/* ---- messages ---- */

static void question_sent(fi_node *from)
{
    if (++from->questions > 1)
        fi_world_error(from->world, "rank %u has %u open questions", from->number, from->questions);
}

/* One loot for the open question, and one for each lifeline. */
static unsigned loots_max(const fi_node *node)
{
    return 1 + (unsigned)__builtin_popcount(node->rank.lifelines);
}

static void loot_sent(fi_node *to, const fi_packet *p)
{
    unsigned max = loots_max(to);

    if (++to->loots_to_come > max)
        fi_world_error(to->world, "%u loots are under way to rank %u; at most %u may be",
                       to->loots_to_come, to->number, max);
    if (p->size > to->world->set->loot_bytes)
        fi_world_error(to->world, "a loot of rank %u has %zu bytes", p->head.from, p->size);
}

void fi_check_send(fi_node *from, fi_node *to, const fi_packet *p)
{
    fi_world *w = from->world;

    if (belongs_to_run(p))
        fi_ledger_of(w, p->head.run)->under_way[p->head.kind]++;
    if (p->head.kind == FI_ASK || p->head.kind == FI_LIFE)
        question_sent(from);
    if (is_loot(p))
        loot_sent(to, p);
    if (p->head.kind == FI_END && to->number == 1)
        fi_check_end(w, p->head.run);
}

void fi_check_arrive(fi_node *to, const fi_packet *p)
{
    if (!belongs_to_run(p))
        return;
    fi_ledger_of(to->world, p->head.run)->under_way[p->head.kind]--;
    if (p->head.kind == FI_NO || p->head.kind == FI_LOOT)
        to->questions--;
    if (is_loot(p))
        to->loots_to_come--;
    if (p->head.run <= to->left)
        fi_world_error(to->world, "rank %u has left run %u and gets %s of it from rank %u",
                       to->number, p->head.run, fi_kind_name(p->head.kind), p->head.from);
}

void fi_check_open(fi_node *node, const fi_packet *p)
{
    if (p->head.run != node->rank.run || p->head.call != node->rank.call)
        fi_world_error(node->world, "rank %u opens a loot of run %u, call %u, in run %u, call %u",
                       node->number, p->head.run, p->head.call, node->rank.run, node->rank.call);
}

/* ---- termination ---- */

static uint64_t loots_under_way(const fi_run_ledger *run)
{
    return run->under_way[FI_LOOT] + run->under_way[FI_GIFT];
}

static bool is_quiet(fi_world *w, const fi_run_ledger *run)
{
    return w->ledger.items == 0 && w->ledger.running == 0 && loots_under_way(run) == 0 &&
           run->entered == w->set->ranks;
}

static void wave_check(fi_node *root)
{
    fi_world *w = root->world;
    fi_run_ledger *run = fi_ledger_of(w, root->rank.run);
    uint64_t closed = root->rank.counters.waves - root->waves;

    root->waves = root->rank.counters.waves;
    if (closed == 0 || root->rank.phase != FI_RUNNING || !is_quiet(w, run))
        return;
    run->quiet_waves += (unsigned)closed;
    if (run->quiet_waves >= QUIET_WAVES_MAX)
        fi_world_error(w, "%u waves after the last item have not ended the run", run->quiet_waves);
}

/* A lifeline is armed if and only if the other rank remembers this one.  No loot is under way, but
 * the answer to a question may be. */
static void lifelines_check(fi_world *w, const fi_node *node)
{
    const fi_thief *t = &node->rank.thief;

    for (unsigned j = 0; j < 32; j++) {
        unsigned other = fi_lifeline(node->number, j);
        bool is_armed = (t->armed >> j & 1) != 0, is_early = (t->early >> j & 1) != 0;
        bool is_asked = t->is_open && t->is_life && t->asked == other;
        bool is_remembered;

        if ((node->rank.lifelines >> j & 1) == 0)
            continue;
        is_remembered = (w->nodes[other].rank.victim.remembered >> j & 1) != 0;
        if (!is_asked && (is_early || is_armed != is_remembered))
            fi_world_error(w, "lifeline of rank %u to rank %u at the end: armed %d, known there %d",
                           node->number, other, is_armed, is_remembered);
    }
}

void fi_check_end(fi_world *w, uint32_t run)
{
    const fi_run_ledger *ledger = fi_ledger_of(w, run);

    if (!is_quiet(w, ledger))
        fi_world_error(w,
                       "the end of run %u is announced with %" PRIu64 " items, %u lanes, %" PRIu64
                       " loots under way and %u of %u ranks in the run",
                       run, w->ledger.items, w->ledger.running, loots_under_way(ledger),
                       ledger->entered, w->set->ranks);
    for (unsigned i = 0; i < w->set->ranks; i++)
        lifelines_check(w, &w->nodes[i]);
}

/* A loot on the shelf came as an answer or over a lifeline, or it is one of this rank for which no
 * thief waited any more.  A rank with a loot asks for no more. */
static void shelf_check(fi_node *node)
{
    unsigned max = loots_max(node) + FI_SIM_OUTBOX_MAX;

    if (node->shelf.n > max)
        fi_world_error(node->world, "%u loots are on the shelf of rank %u; at most %u may be",
                       node->shelf.n, node->number, max);
}

void fi_check_rank(fi_node *node)
{
    if (node->rank.victim.n > FI_ASKS_MAX)
        fi_world_error(node->world, "%u questions wait at rank %u", node->rank.victim.n,
                       node->number);
    shelf_check(node);
    if (node->number == 0)
        wave_check(node);
}

/* ---- results ---- */

static void result_check(fi_node *node, const fi_run_ledger *run, int result)
{
    fi_world *w = node->world;
    bool is_mismatch = node->left == w->set->mismatch_run && w->set->ranks > 1;

    if (result != run->result)
        fi_world_error(w, "run %u: rank %u gets result %d, another rank %d", node->left,
                       node->number, result, run->result);
    if ((result != 0) != (is_mismatch || run->has_handler_result))
        fi_world_error(w, "run %u: result %d", node->left, result);
    if (is_mismatch && !run->has_handler_result && result != -EPROTO)
        fi_world_error(w, "run %u: result %d after different calls", node->left, result);
    if (result == 0 && (node->acc.count != w->expected.count || node->acc.hash != w->expected.hash))
        fi_world_error(w, "run %u: rank %u gets %" PRIu64 " items instead of %" PRIu64 "%s",
                       node->left, node->number, node->acc.count, w->expected.count,
                       node->acc.count == w->expected.count ? ", but other ones" : "");
}

/* Rank 0 leaves first.  Only LEAVE may be under way then. */
static void stray_check(fi_world *w, const fi_run_ledger *run)
{
    for (unsigned kind = 0; kind < FI_KINDS; kind++)
        if (kind != FI_LEAVE && run->under_way[kind] != 0)
            fi_world_error(w, "%" PRIu64 " messages of kind %s are under way when rank 0 leaves",
                           run->under_way[kind], fi_kind_name(kind));
}

void fi_check_leave(fi_node *node, int result)
{
    fi_world *w = node->world;
    fi_run_ledger *run = fi_ledger_of(w, node->left);

    if (w->set->ranks == 1)
        fi_check_end(w, node->left);
    if (run->left == 0)
        run->result = result;
    if (node->number == 0)
        stray_check(w, run);
    if (node->is_running || node->bag.n > 0 || node->shelf.n > 0 || node->outbox.n > 0)
        fi_world_error(w, "rank %u leaves run %u with work", node->number, node->left);
    result_check(node, run, result);
    if (++run->left == w->set->ranks)
        *run = (fi_run_ledger){0};
}

void fi_check_finished(fi_world *w)
{
    for (size_t i = 0; i < w->events.n; i++) {
        const fi_packet *p = w->events.heap[i].packet;

        if (p && belongs_to_run(p))
            fi_world_error(w, "%s is under way after the last run", fi_kind_name(p->head.kind));
    }
}
