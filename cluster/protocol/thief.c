/* A hungry rank asks for work: first a few random ranks, then its lifelines, one question at a
 * time.  A lifeline without work remembers the rank and sends a GIFT as soon as it has work.  When
 * all lifelines remember the rank, it waits and sends nothing.
 *
 * The network may change the order of messages.  A GIFT may arrive before the NO that was sent
 * before it.  Then the lifeline is marked as early, and the NO does not arm it. */
#include "protocol/fault.h"
#include "protocol/internal.h"
#include "protocol/topology.h"

#include <errno.h>

void fi_thief_reset(fi_thief *t)
{
    *t = (fi_thief){.hungry_since = -1};
}

/* splitmix64 */
static uint64_t random_next(fi_rank *r)
{
    uint64_t z = r->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A number below n, from the high bits. */
static unsigned random_below(fi_rank *r, unsigned n)
{
    return (unsigned)((random_next(r) >> 32) * n >> 32);
}

/* With several nodes, half of the questions go to ranks on the same node. */
static unsigned random_victim(fi_rank *r)
{
    const fi_rank_settings *s = &r->set;
    unsigned other;

    if (s->n_near > 1 && s->n_near < s->ranks && (random_next(r) & 1) != 0) {
        do
            other = s->near[random_below(r, s->n_near)];
        while (other == s->rank);
        return other;
    }
    other = random_below(r, s->ranks - 1);
    return other + (other >= s->rank);
}

static void question_open(fi_rank *r, unsigned to, bool is_life)
{
    r->thief.is_open = true;
    r->thief.is_life = is_life;
    r->thief.asked = to;
    fi_rank_send(r, to, is_life ? FI_LIFE : FI_ASK, 0, 0);
}

static void question_next(fi_rank *r)
{
    uint32_t unarmed = r->lifelines & ~r->thief.armed;

    if (r->thief.tries < r->set.random_tries) {
        r->thief.tries++;
        r->counters.asks++;
        question_open(r, random_victim(r), false);
    } else if (unarmed != 0) {
        r->counters.lifes++;
        question_open(r, fi_lifeline(r->set.rank, (unsigned)__builtin_ctz(unarmed)), true);
    }
}

static void hungry_time(fi_rank *r, bool is_hungry, int64_t now)
{
    fi_thief *t = &r->thief;

    if (is_hungry && t->hungry_since < 0)
        t->hungry_since = now;
    if (!is_hungry && t->hungry_since >= 0) {
        r->counters.hungry_ns += (uint64_t)(now - t->hungry_since);
        t->hungry_since = -1;
    }
}

void fi_thief_step(fi_rank *r, fi_activity activity, int64_t now)
{
    bool is_hungry = fi_rank_works(r) && activity != FI_BUSY;

    hungry_time(r, is_hungry, now);
    if (FI_PROTOCOL_FAULT(thief.two_questions) && r->thief.is_life)
        r->thief.is_open = false;
    if (is_hungry && !r->thief.is_open && r->set.ranks > 1)
        question_next(r);
}

/* NO or LOOT.  False: it answers no question. */
static bool question_close(fi_rank *r, const fi_packet *answer)
{
    if (!r->thief.is_open || r->thief.asked != answer->head.from) {
        r->host->fail(r->ctx, -EPROTO);
        return false;
    }
    r->thief.is_open = false;
    return true;
}

void fi_thief_refused(fi_rank *r, const fi_packet *p)
{
    fi_thief *t = &r->thief;
    uint32_t line;

    if (!question_close(r, p))
        return;
    r->counters.refusals++;
    if (!t->is_life)
        return;
    line = 1u << fi_lifeline_index(r->set.rank, p->head.from);
    if ((t->early & line) != 0 && !FI_PROTOCOL_FAULT(thief.gift_arms))
        t->early &= ~line;
    else
        t->armed |= line;
}

static void gift_note(fi_rank *r, const fi_packet *p)
{
    int j = fi_lifeline_index(r->set.rank, p->head.from);
    uint32_t line = j < 0 ? 0 : 1u << j;

    r->counters.gifts_in++;
    if ((r->thief.armed & line) != 0)
        r->thief.armed &= ~line;
    else
        r->thief.early |= line;
}

/* Work of the same call on a rank that has not stopped. */
static bool loot_is_usable(const fi_rank *r, const fi_packet *p)
{
    return r->result == 0 && p->head.call == r->call;
}

/* All loots count, those that are dropped, too. */
static bool loot_is_counted(const fi_rank *r, const fi_packet *p)
{
    if (p->head.kind == FI_GIFT && FI_PROTOCOL_FAULT(thief.gift_uncounted))
        return false;
    return loot_is_usable(r, p) || !FI_PROTOCOL_FAULT(thief.drop_uncounted);
}

void fi_thief_loot(fi_rank *r, fi_packet *p)
{
    r->counters.bytes_in += p->size;
    if (p->head.kind == FI_GIFT) {
        gift_note(r, p);
    } else {
        r->counters.loots_in++;
        question_close(r, p);
    }
    r->thief.tries = 0;
    if (loot_is_counted(r, p))
        r->end.opened++;
    if (loot_is_usable(r, p))
        r->host->open(r->ctx, p);
    else
        fi_packet_free(p);
}

bool fi_thief_waits(const fi_rank *r)
{
    return !r->thief.is_open && (r->lifelines & ~r->thief.armed) == 0;
}
