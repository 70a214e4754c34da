/* Detection of the end of a run: four counters on a tree (Mattern 1987).
 *
 * A rank counts the loots that it has sent (S) and opened (R).  It is passive if it has no lane, no
 * loot to send and no loot to open.  Rank 0 sends a wave down the tree.  Each rank holds the wave
 * until it is passive and its children have counted, and then sends the sums of S and R of its
 * subtree up.  There is one wave at a time.  Rank 0 announces the end when the R of the last wave
 * equals the S of this wave.
 *
 * Claim: when rank 0 announces the end, all ranks are passive and no loot is under way.
 *
 * Let t(i) be the time at which rank i reads its counters in the last wave, t'(i) the same for this
 * wave, and T a time between the two waves.  All t(i) are before T, and all t'(i) are after it,
 * because rank 0 starts this wave after all counts of the last one have arrived.  R(i, t) is the
 * value of R of rank i at time t, and R(t) is the sum over all ranks; the same for S.
 *
 *     sum of R(i, t(i)) <= R(T)                  R never decreases, and t(i) <= T
 *     R(T) <= S(T)                               a loot is counted in S before it is sent, and in R
 *                                                after it has arrived
 *     S(T) <= sum of S(i, t'(i))                 S never decreases, and T <= t'(i)
 *
 * If the first and the last sum are equal, all four values are equal.  Then:
 *   1. R(T) = S(T): no loot is under way at T.
 *   2. R(i, t(i)) = R(i, T) for each i, because each term can only grow and the sums are equal.  So
 *      rank i opened no loot between t(i) and T.  It was passive at t(i), and a passive rank
 *      becomes active only by opening a loot.  So rank i is passive at T.
 *   3. At T all ranks are passive and no loot is under way.  Nothing can start work again, so this
 *      is also true when rank 0 announces the end.
 *
 * What the code has to guarantee:
 *   a. S and R never decrease during a run.
 *   b. S is incremented before the loot is sent (victim.c, loot_send).
 *   c. R is incremented in the same step that starts the lane (thief.c, fi_thief_loot), so a rank
 *      with an opened loot is not passive.
 *   d. The activity, S and R are read in one step: fi_termination_step gets an activity that was
 *      read in the same step, and no message is handled and no loot is given in between.
 *   e. A rank that has not begun the run holds the wave.
 * No order of messages is assumed.
 *
 * After the last loot, at most three waves are needed: the one that is under way, whose counters
 * may be old, one that reads the final values, and one that confirms them. */
#include "protocol/fault.h"
#include "protocol/internal.h"
#include "protocol/topology.h"

static void wave_open(fi_rank *r, uint64_t number)
{
    fi_termination *e = &r->end;

    e->has_wave = true;
    e->wave = number;
    e->counts_missing = r->n_children;
    e->sum_sent = e->sum_opened = 0;
}

void fi_termination_wave(fi_rank *r, const fi_packet *p)
{
    wave_open(r, p->head.a);
    for (unsigned c = 0; c < r->n_children; c++)
        fi_rank_send_for(r, fi_tree_first_child(r->set.rank) + c, FI_WAVE, &p->head);
}

void fi_termination_count(fi_rank *r, const fi_packet *p)
{
    r->end.counts_missing--;
    r->end.sum_sent += p->head.a;
    r->end.sum_opened += p->head.b;
}

/* [rank 0] Start a wave if no rank is likely to have work: this rank has asked all its lifelines,
 * and none had any.  False: it is too early. */
static bool wave_start(fi_rank *r)
{
    if (r->result == 0 && !fi_thief_waits(r))
        return false;
    wave_open(r, r->end.wave + 1);
    for (unsigned c = 0; c < r->n_children; c++)
        fi_rank_send(r, fi_tree_first_child(r->set.rank) + c, FI_WAVE, r->end.wave, 0);
    return true;
}

#ifdef FI_PROTOCOL_FAULTS
/* The faults take one wave for two, ignore the loots under way, or read S before R. */
static bool wave_is_last_by_fault(fi_termination *e, uint64_t sent, uint64_t opened)
{
    uint64_t last_sent = e->last_sent;

    e->last_sent = sent;
    if (opened == sent && FI_PROTOCOL_FAULT(termination.one_wave))
        return true;
    return e->has_last &&
           ((e->last_opened == opened && FI_PROTOCOL_FAULT(termination.loots_ignored)) ||
            (last_sent == opened && FI_PROTOCOL_FAULT(termination.wrong_order)));
}
#endif

static bool wave_is_last(fi_termination *e, uint64_t sent, uint64_t opened)
{
#ifdef FI_PROTOCOL_FAULTS
    if (wave_is_last_by_fault(e, sent, opened))
        return true;
#endif
    (void)opened;
    return e->has_last && e->last_opened == sent;
}

/* [rank 0] All ranks have counted. */
static void wave_compare(fi_rank *r, uint64_t sent, uint64_t opened)
{
    fi_termination *e = &r->end;

    if (wave_is_last(e, sent, opened)) {
        fi_finish_end(r);
        return;
    }
    e->has_last = true;
    e->last_opened = opened;
}

static void wave_close(fi_rank *r)
{
    fi_termination *e = &r->end;
    uint64_t sent = e->sum_sent + e->sent, opened = e->sum_opened + e->opened;

    e->has_wave = false;
    r->counters.waves++;
    if (r->set.rank == 0)
        wave_compare(r, sent, opened);
    else
        fi_rank_send(r, fi_tree_parent(r->set.rank), FI_COUNT, sent, opened);
}

/* Is the rank passive now?  The faults count a rank that is active, or that was passive before and
 * reads its counters now. */
static bool wave_finds_passive(fi_termination *e, fi_activity activity)
{
    (void)e;
#ifdef FI_PROTOCOL_FAULTS
    e->was_passive |= activity == FI_PASSIVE;
    if (e->has_wave && e->was_passive && FI_PROTOCOL_FAULT(termination.counters_read_late))
        return true;
#endif
    return activity == FI_PASSIVE || FI_PROTOCOL_FAULT(termination.active_counts);
}

/* A rank that has not begun the run holds the wave. */
static bool wave_may_count(const fi_rank *r)
{
    return r->phase == FI_RUNNING ||
           (r->phase == FI_BETWEEN && FI_PROTOCOL_FAULT(termination.outside_counts));
}

void fi_termination_step(fi_rank *r, fi_activity activity)
{
    fi_termination *e = &r->end;
    bool is_root = r->set.rank == 0;

    while (wave_may_count(r) && wave_finds_passive(e, activity)) {
        if (is_root && !e->has_wave && !wave_start(r))
            return;
        if (!e->has_wave || (e->counts_missing > 0 && !FI_PROTOCOL_FAULT(termination.wave_early)))
            return;
        wave_close(r);
    }
}
