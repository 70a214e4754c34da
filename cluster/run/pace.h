/* How long the communication thread polls, and how long it then sleeps.
 *
 * A message from the same node rings the doorbell, so the thread may sleep for any time.  A
 * message from another node is noticed by polling only.  A wake-up costs some 20 us of CPU, and
 * a poll 0.1 us.  So a thread that expects an answer polls for a short time.  Then it sleeps for
 * times that double, up to a limit that keeps its CPU time below 2 %. */
#ifndef FI_CLUSTER_PACE_H
#define FI_CLUSTER_PACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct fi_pace {
    bool has_far;    /* there are ranks on other nodes */
    bool can_probe;  /* a CPU is free while the workers of this rank sleep */
    int64_t news_ns; /* time of the last news */
    int64_t nap_ns;  /* the last sleep; 0: none since the news */

    /* To measure the cost of a wake-up. */
    int64_t measured_cpu_ns;
    unsigned unmeasured; /* wake-ups since then */
    int64_t far_max_ns;  /* the longest sleep while messages are noticed by polling */
} fi_pace;

/* What the rank waits for. */
typedef enum fi_pace_for {
    FI_PACE_RINGS, /* messages, and rings of its lanes */
    FI_PACE_WORK,  /* work of other ranks: the rank is hungry */
    FI_PACE_HELP,  /* work behind a long item of this rank */
} fi_pace_for;

void fi_pace_init(fi_pace *p, bool has_far, bool can_probe);

/* Something has happened. */
static inline void fi_pace_news(fi_pace *p, int64_t now)
{
    p->news_ns = now;
    p->nap_ns = 0;
}

/* Nothing has happened.  Returns how long to sleep, at most; 0: poll again. */
int64_t fi_pace_nap(fi_pace *p, fi_pace_for what, int64_t now);

#endif
