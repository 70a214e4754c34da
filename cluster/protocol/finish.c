/* The last part of a run, and its early end.
 *
 * After END, each rank sends its result and accumulator up the tree (DONE), together with those of
 * its subtree, when it has no open question.  Rank 0 then sends the common result down (LEAVE).  So
 * no question, answer, loot or wave outlives its run.  STOP may: it is a hint, and a rank ignores
 * the STOP of an earlier run.
 *
 * A result that is not 0 travels twice.  STOP makes all ranks drop their work soon.  DONE and LEAVE
 * make it the result on all ranks: the one that rank 0 learns of first. */
#include "protocol/fault.h"
#include "protocol/internal.h"
#include "protocol/topology.h"

#include <errno.h>
#include <string.h>

static void send_to_children(fi_rank *r, fi_kind kind)
{
    for (unsigned c = 0; c < r->n_children; c++)
        fi_rank_send(r, fi_tree_first_child(r->set.rank) + c, kind, 0, 0);
}

void fi_finish_end(fi_rank *r)
{
    r->phase = FI_ENDING;
    r->dones_missing = r->n_children;
    send_to_children(r, FI_END);
}

void fi_finish_done(fi_rank *r, const fi_packet *p)
{
    int result = (int)(int64_t)p->head.a;

    r->dones_missing--;
    if (result != 0 && r->result == 0 && !FI_PROTOCOL_FAULT(finish.result_lost))
        r->result = result;
    if (r->result == 0 && p->size == r->acc_size && r->acc_size > 0)
        r->host->combine(r->ctx, p->body);
}

/* The run that a result belongs to. */
typedef struct ended_run {
    uint32_t run, call;
    int result;
} ended_run;

/* Send the result and the accumulator to one rank. */
static void result_send(fi_rank *r, unsigned to, fi_kind kind, ended_run ended)
{
    fi_packet *p = fi_packet_new(r->acc_size);

    if (!p) {
        r->host->fail(r->ctx, -ENOMEM);
        return;
    }
    if (r->acc_size > 0)
        memcpy(p->body, r->acc, r->acc_size);
    p->head = (fi_header){
        .kind = (uint16_t)kind,
        .run = ended.run,
        .call = ended.call,
        .from = r->set.rank,
        .a = (uint64_t)(int64_t)ended.result,
    };
    r->host->send(r->ctx, to, p);
}

/* The state of the next run, in which this rank has not begun.  The accumulator stays until
 * LEAVE. */
static void next_run(fi_rank *r)
{
    r->run++;
    r->call = r->early_call = 0;
    r->result = 0;
    r->end = (fi_termination){0};
    r->victim = (fi_victim){0};
    fi_thief_reset(&r->thief);
}

static void leave(fi_rank *r, ended_run ended)
{
    for (unsigned c = 0; c < r->n_children; c++)
        result_send(r, fi_tree_first_child(r->set.rank) + c, FI_LEAVE, ended);
    r->phase = FI_BETWEEN;
    r->host->leave(r->ctx, ended.result);
}

void fi_finish_leave(fi_rank *r, const fi_packet *p)
{
    if (p->size == r->acc_size && r->acc_size > 0)
        memcpy(r->acc, p->body, r->acc_size);
    leave(r, (ended_run){p->head.run, p->head.call, (int)(int64_t)p->head.a});
}

void fi_finish_step(fi_rank *r)
{
    ended_run ended = {r->run, r->call, r->result};
    bool is_asking = r->thief.is_open && !FI_PROTOCOL_FAULT(finish.question_open);
    bool has_all = r->dones_missing == 0 || FI_PROTOCOL_FAULT(finish.done_early);

    if (r->phase != FI_ENDING || is_asking || !has_all)
        return;
    next_run(r);
    if (r->set.rank == 0) {
        leave(r, ended);
    } else {
        result_send(r, fi_tree_parent(r->set.rank), FI_DONE, ended);
        r->phase = FI_LEAVING;
    }
}

/* Tell the neighbours in the tree, except the one from which this rank knows. */
static void stop_spread(fi_rank *r, int64_t from)
{
    unsigned first = fi_tree_first_child(r->set.rank);
    uint64_t result = (uint64_t)(int64_t)r->result;

    if (r->set.rank != 0 && from != fi_tree_parent(r->set.rank))
        fi_rank_send(r, fi_tree_parent(r->set.rank), FI_STOP, result, 0);
    for (unsigned c = first; c < first + r->n_children; c++)
        if (from != c)
            fi_rank_send(r, c, FI_STOP, result, 0);
}

/* from: the rank that sent STOP; -1: this rank. */
void fi_finish_stop(fi_rank *r, int result, int64_t from)
{
    if (r->result != 0)
        return;
    r->result = result;
    if (r->phase == FI_ENDING)
        return; /* DONE carries the result */
    stop_spread(r, from);
    if (r->phase == FI_RUNNING)
        r->host->drop(r->ctx);
}

void fi_rank_stop(fi_rank *r, int result)
{
    if (r->phase == FI_RUNNING || r->phase == FI_ENDING)
        fi_finish_stop(r, result, -1);
}
