/* Functions between the files of the protocol. */
#ifndef FI_CLUSTER_INTERNAL_H
#define FI_CLUSTER_INTERNAL_H

#include "protocol/rank.h"

/* Send a message without a body. */
void fi_rank_send(fi_rank *r, unsigned to, fi_kind kind, uint64_t a, uint64_t b);
/* The same, for another run or call than the current one. */
void fi_rank_send_for(fi_rank *r, unsigned to, fi_kind kind, const fi_header *question);
/* Send a packet with its body. */
void fi_rank_send_packet(fi_rank *r, unsigned to, fi_kind kind, fi_packet *p);

/* Does this rank work on the run: it has begun and not ended, and no result has stopped it? */
static inline bool fi_rank_works(const fi_rank *r)
{
    return r->phase == FI_RUNNING && r->result == 0;
}

void fi_thief_reset(fi_thief *t);
void fi_thief_step(fi_rank *r, fi_activity activity, int64_t now);
void fi_thief_refused(fi_rank *r, const fi_packet *p);
/* A LOOT or GIFT has arrived. */
void fi_thief_loot(fi_rank *r, fi_packet *p);
/* All lifelines remember this rank, and no question is open. */
bool fi_thief_waits(const fi_rank *r);

void fi_victim_ask(fi_rank *r, const fi_packet *p, int64_t now);
void fi_victim_step(fi_rank *r, fi_activity activity, int64_t now);
int64_t fi_victim_deadline(const fi_victim *v);

void fi_termination_wave(fi_rank *r, const fi_packet *p);
void fi_termination_count(fi_rank *r, const fi_packet *p);
void fi_termination_step(fi_rank *r, fi_activity activity);

void fi_finish_end(fi_rank *r);
void fi_finish_done(fi_rank *r, const fi_packet *p);
void fi_finish_leave(fi_rank *r, const fi_packet *p);
void fi_finish_stop(fi_rank *r, int result, int64_t from);
void fi_finish_step(fi_rank *r);

#endif
