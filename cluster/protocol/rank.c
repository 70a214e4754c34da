#include "protocol/rank.h"

#include "protocol/fault.h"
#include "protocol/internal.h"
#include "protocol/topology.h"

#include <errno.h>

void fi_rank_init(fi_rank *r, const fi_rank_settings *set, const fi_host *host, void *ctx)
{
    *r = (fi_rank){
        .host = host,
        .ctx = ctx,
        .set = *set,
        .lifelines = fi_lifelines(set->rank, set->ranks),
        .n_children = fi_tree_n_children(set->rank, set->ranks),
        /* Ranks with consecutive numbers get unrelated sequences. */
        .random = set->seed + UINT64_C(0xd1342543de82ef95) * (set->rank + 1),
        .run = 1,
    };
    fi_thief_reset(&r->thief);
}

void fi_rank_send_packet(fi_rank *r, unsigned to, fi_kind kind, fi_packet *p)
{
    p->head =
        (fi_header){.kind = (uint16_t)kind, .run = r->run, .call = r->call, .from = r->set.rank};
    r->host->send(r->ctx, to, p);
}

static void send_header(fi_rank *r, unsigned to, const fi_header *head)
{
    fi_packet *p = fi_packet_new(0);

    if (!p) {
        r->host->fail(r->ctx, -ENOMEM);
        return;
    }
    p->head = *head;
    p->head.from = r->set.rank;
    r->host->send(r->ctx, to, p);
}

void fi_rank_send(fi_rank *r, unsigned to, fi_kind kind, uint64_t a, uint64_t b)
{
    send_header(
        r, to,
        &(fi_header){.kind = (uint16_t)kind, .run = r->run, .call = r->call, .a = a, .b = b});
}

void fi_rank_send_for(fi_rank *r, unsigned to, fi_kind kind, const fi_header *question)
{
    fi_header head = *question;

    head.kind = (uint16_t)kind;
    send_header(r, to, &head);
}

void fi_rank_begin(fi_rank *r, uint32_t call, void *acc, size_t acc_size, int64_t now)
{
    r->call = call;
    r->acc = acc;
    r->acc_size = acc_size;
    r->phase = FI_RUNNING;
    if (r->result != 0) /* STOP came before the run began here */
        r->host->drop(r->ctx);
    if (r->early_call != 0 && r->early_call != call)
        fi_finish_stop(r, -EPROTO, -1);
    fi_rank_step(r, now);
}

/* All ranks must make the same call.  A rank that has not begun the run remembers the call that
 * other ranks make. */
static void check_call(fi_rank *r, const fi_packet *p)
{
    uint32_t mine = r->call != 0 ? r->call : r->early_call;

    if (p->head.call == 0) /* the sender has not begun the run */
        return;
    if (FI_PROTOCOL_FAULT(rank.calls_unchecked))
        return;
    if (mine == 0)
        r->early_call = p->head.call;
    else if (mine != p->head.call)
        fi_finish_stop(r, -EPROTO, -1);
}

static void receive_current(fi_rank *r, fi_packet *p, int64_t now)
{
    if (p->head.kind != FI_STOP)
        check_call(r, p);
    switch (p->head.kind) {
    case FI_ASK:
    case FI_LIFE:
        fi_victim_ask(r, p, now);
        break;
    case FI_NO:
        fi_thief_refused(r, p);
        break;
    case FI_LOOT:
    case FI_GIFT:
        fi_thief_loot(r, p);
        return;
    case FI_WAVE:
        fi_termination_wave(r, p);
        break;
    case FI_COUNT:
        fi_termination_count(r, p);
        break;
    case FI_END:
        fi_finish_end(r);
        break;
    case FI_DONE:
        fi_finish_done(r, p);
        break;
    case FI_STOP:
        fi_finish_stop(r, (int)(int64_t)p->head.a, p->head.from);
        break;
    default:
        r->host->fail(r->ctx, -EPROTO);
    }
    fi_packet_free(p);
}

/* A message of the run that this rank has left, or leaves. */
static void receive_last(fi_rank *r, fi_packet *p)
{
    switch (p->head.kind) {
    case FI_ASK:
    case FI_LIFE:
        fi_rank_send_for(r, p->head.from, FI_NO, &p->head);
        break;
    case FI_LEAVE:
        fi_finish_leave(r, p);
        break;
    case FI_STOP:
        if (FI_PROTOCOL_FAULT(rank.old_stop))
            fi_finish_stop(r, (int)(int64_t)p->head.a, p->head.from);
        break;
    default:
        r->host->fail(r->ctx, -EPROTO);
    }
    fi_packet_free(p);
}

void fi_rank_receive(fi_rank *r, fi_packet *p, int64_t now)
{
    if (p->head.run == r->run) {
        receive_current(r, p, now);
    } else if (p->head.run + 1 == r->run) {
        receive_last(r, p);
    } else {
        if (p->head.kind != FI_STOP || p->head.run > r->run)
            r->host->fail(r->ctx, -EPROTO);
        fi_packet_free(p);
    }
}

void fi_rank_step(fi_rank *r, int64_t now)
{
    fi_activity activity = r->phase == FI_RUNNING ? r->host->activity(r->ctx) : FI_PASSIVE;

    fi_victim_step(r, activity, now);
    fi_thief_step(r, activity, now);
    fi_termination_step(r, activity);
    fi_finish_step(r);
}

int64_t fi_rank_deadline(const fi_rank *r)
{
    return fi_victim_deadline(&r->victim);
}
