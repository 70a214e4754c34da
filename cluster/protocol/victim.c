/* Questions of thieves, and loots for them.
 *
 * A question waits for a lane that can split its bag, for at most answer_ns.  Then the answer is
 * NO.  A thief that asked by LIFE is remembered and gets a GIFT later.  The lanes know only how
 * many loots are wanted.  This file decides which thief gets one: the oldest question first,
 * then the remembered ranks. */
#include "protocol/fault.h"
#include "protocol/internal.h"
#include "protocol/topology.h"

static fi_ask ask_pop(fi_victim *v)
{
    fi_ask a = v->asks[v->first];

    v->first = (v->first + 1) % FI_ASKS_MAX;
    v->n--;
    return a;
}

static void ask_push(fi_victim *v, fi_ask a)
{
    v->asks[(v->first + v->n) % FI_ASKS_MAX] = a;
    v->n++;
}

static void refuse(fi_rank *r, fi_ask a)
{
    if (a.is_life && !FI_PROTOCOL_FAULT(victim.thief_forgotten))
        r->victim.remembered |= 1u << fi_lifeline_index(r->set.rank, a.from);
    if (!FI_PROTOCOL_FAULT(victim.answer_dropped) || r->victim.n != 0)
        fi_rank_send(r, a.from, FI_NO, 0, 0);
}

void fi_victim_ask(fi_rank *r, const fi_packet *p, int64_t now)
{
    fi_ask a = {p->head.from, p->head.kind == FI_LIFE, now + r->set.answer_ns};

    if (fi_rank_works(r) && (r->victim.n < FI_ASKS_MAX || FI_PROTOCOL_FAULT(victim.asks_unbounded)))
        ask_push(&r->victim, a);
    else
        refuse(r, a);
}

/* Questions expire in the order in which they came. */
static void asks_expire(fi_rank *r, bool can_give, int64_t now)
{
    fi_victim *v = &r->victim;

    if (!can_give && FI_PROTOCOL_FAULT(victim.passive_keeps_asks))
        return;
    while (v->n > 0 && (!can_give || v->asks[v->first].until <= now))
        refuse(r, ask_pop(v));
}

void fi_victim_step(fi_rank *r, fi_activity activity, int64_t now)
{
    fi_victim *v = &r->victim;
    bool can_give = fi_rank_works(r) && activity != FI_PASSIVE;
    unsigned wanted;

    asks_expire(r, can_give, now);
    wanted = can_give ? v->n + (unsigned)__builtin_popcount(v->remembered) : 0;
    if (wanted != v->wanted) {
        v->wanted = wanted;
        r->host->want(r->ctx, wanted);
    }
}

int64_t fi_victim_deadline(const fi_victim *v)
{
    return v->n > 0 ? v->asks[v->first].until : INT64_MAX;
}

static void loot_send(fi_rank *r, unsigned to, fi_kind kind, fi_packet *p)
{
    /* Counted before it is sent: see termination.c. */
    if (kind != FI_GIFT || !FI_PROTOCOL_FAULT(victim.gift_uncounted))
        r->end.sent++;
    r->counters.bytes_out += p->size;
    fi_rank_send_packet(r, to, kind, p);
}

static unsigned remembered_pop(fi_rank *r)
{
    unsigned j = (unsigned)__builtin_ctz(r->victim.remembered);

    if (!FI_PROTOCOL_FAULT(victim.thief_kept))
        r->victim.remembered &= ~(1u << j);
    return fi_lifeline(r->set.rank, j);
}

bool fi_rank_give(fi_rank *r, fi_packet *p)
{
    fi_victim *v = &r->victim;

    if (!fi_rank_works(r) || (v->n == 0 && v->remembered == 0))
        return false;
    if (v->n > 0) {
        r->counters.loots_out++;
        loot_send(r, ask_pop(v).from, FI_LOOT, p);
    } else {
        r->counters.gifts_out++;
        loot_send(r, remembered_pop(r), FI_GIFT, p);
    }
    v->wanted = v->n + (unsigned)__builtin_popcount(v->remembered);
    r->host->want(r->ctx, v->wanted);
    return true;
}
