/* Heartbeats of many ranks, with a clock of the test. */
#include "check.h"

#include "run/beats.h"

#include <stdbool.h>

#define S  INT64_C(1000000000)
#define MS INT64_C(1000000)

enum { RANKS = 100 };

static fi_beats beats[RANKS];

static fi_beat_own own_of(unsigned rank, uint64_t run)
{
    fi_beat_own own = {.run_items = rank, .row = {.rank = rank, .pid = 1000 + rank}};

    own.sums =
        (filch_ranks_sums){.run = run, .items = UINT64_C(10) * rank, .loots = 1, .busy = rank % 2};
    return own;
}

/* Leaves first, so that one round reaches rank 0. */
static void round_up(unsigned ranks, int64_t now)
{
    for (unsigned i = ranks - 1; i > 0; i--) {
        fi_beat_own own = own_of(i, 1);
        fi_packet *p = fi_beats_make(&beats[i], &own, true, now);

        CHECK(p);
        fi_beats_heard(&beats[fi_tree_parent(i)], i, now);
        CHECK(fi_beats_receive(&beats[fi_tree_parent(i)], p, now));
    }
}

static void ranks_init(unsigned ranks, int64_t now)
{
    for (unsigned i = 0; i < RANKS; i++)
        fi_beats_init(&beats[i], i, ranks, 10 * S, now);
}

static void ranks_fini(void)
{
    for (unsigned i = 0; i < RANKS; i++)
        fi_beats_fini(&beats[i]);
}

static void rank_0_knows_all(void **state)
{
    bool is_known[RANKS] = {false};
    fi_beat_own own = own_of(0, 1);
    const fi_beat *all;
    fi_packet *p;

    (void)state;
    ranks_init(RANKS, 0);
    round_up(RANKS, 1 * S);
    p = fi_beats_make(&beats[0], &own, true, 3 * S);
    CHECK(p);
    all = fi_beat_of(p);
    CHECK_INT(fi_beat_n_rows(p), RANKS);
    CHECK_INT(all->sums.items, 10 * RANKS * (RANKS - 1) / 2);
    CHECK_INT(all->run_items, RANKS * (RANKS - 1) / 2);
    CHECK_INT(all->sums.loots, RANKS);
    CHECK_INT(all->sums.busy, RANKS / 2);
    CHECK_INT(all->sums.silence_ns, 2 * S);
    for (unsigned i = 0; i < RANKS; i++) {
        CHECK(all->rows[i].rank < RANKS && !is_known[all->rows[i].rank]);
        is_known[all->rows[i].rank] = true;
        CHECK_INT(all->rows[i].pid, 1000 + all->rows[i].rank);
        CHECK_INT(all->rows[i].heard_ns, all->rows[i].rank == 0 ? 0 : 2 * S);
    }
    fi_packet_free(p);
    ranks_fini();
}

/* Items of another run do not count as those of this one. */
static void items_belong_to_a_run(void **state)
{
    fi_beat_own own = own_of(0, 2);
    fi_packet *p;

    (void)state;
    ranks_init(RANKS, 0);
    round_up(RANKS, 1 * S);
    own.run_items = 5;
    p = fi_beats_make(&beats[0], &own, true, 1 * S);
    CHECK_INT(fi_beat_of(p)->run_items, 5);
    fi_packet_free(p);
    ranks_fini();
}

/* With more ranks than the table has rows, there are sums only. */
static void many_ranks_have_sums(void **state)
{
    fi_beat_own own = own_of(0, 1);
    fi_packet *p;

    (void)state;
    ranks_init(FILCH_RANKS_ROWS + 1, 0);
    round_up(9, 1 * S);
    p = fi_beats_make(&beats[0], &own, true, 1 * S);
    CHECK_INT(fi_beat_n_rows(p), 1);
    CHECK_INT(fi_beat_of(p)->sums.items, 10 * 36);
    fi_packet_free(p);
    ranks_fini();
}

static void silence_is_noticed_once(void **state)
{
    fi_beats *b = &beats[0];
    fi_neighbour *n = &b->neighbours[2];

    (void)state;
    ranks_init(RANKS, 0);
    CHECK_INT(b->n, FI_TREE_DEGREE);
    CHECK_INT(n->rank, 3);
    CHECK_INT(fi_beats_check(b, n, 3 * S - 1), FI_HEARD);
    CHECK_INT(fi_beats_check(b, n, 3 * S), FI_SILENT);
    CHECK_INT(fi_beats_check(b, n, 4 * S), FI_HEARD); /* it is said once */
    fi_beats_heard(b, 3, 5 * S);
    CHECK_INT(fi_beats_check(b, n, 8 * S), FI_SILENT);
    CHECK_INT(fi_beats_check(b, n, 15 * S - 1), FI_HEARD);
    CHECK_INT(fi_beats_check(b, n, 15 * S), FI_DEAD);
    CHECK_INT(fi_beats_check(b, &b->neighbours[0], 10 * S), FI_DEAD);
    ranks_fini();
}

/* A process that was stopped has heard nothing meanwhile. */
static void an_own_stop_is_no_silence(void **state)
{
    fi_beats *b = &beats[0];

    (void)state;
    ranks_init(RANKS, 0);
    CHECK(fi_beats_due(b, 0));
    CHECK(!fi_beats_due(b, 999 * MS));
    CHECK(fi_beats_due(b, 1000 * MS));
    CHECK(fi_beats_due(b, 60 * S));
    for (unsigned i = 0; i < b->n; i++)
        CHECK_INT(fi_beats_check(b, &b->neighbours[i], 60 * S), FI_HEARD);
    ranks_fini();
}

static void wrong_beats_are_refused(void **state)
{
    fi_beat_own own = own_of(3, 1);
    fi_packet *p;

    (void)state;
    ranks_init(RANKS, 0);
    p = fi_packet_new(10); /* too short */
    p->head.from = 1;
    CHECK(!fi_beats_receive(&beats[0], p, 0));
    p = fi_beats_make(&beats[3], &own, false, 0);
    CHECK(!fi_beats_receive(&beats[9], p, 0)); /* not a neighbour */
    p = fi_beats_make(&beats[3], &own, false, 0);
    p->head.from = 4; /* another rank than that of its row */
    CHECK(!fi_beats_receive(&beats[0], p, 0));
    p = fi_beats_make(&beats[3], &own, false, 0);
    p->size -= 8; /* a part of a row */
    CHECK(!fi_beats_receive(&beats[0], p, 0));
    CHECK(!fi_beats_row(&beats[0].neighbours[2]));
    ranks_fini();
}

CHECK_MAIN(rank_0_knows_all, items_belong_to_a_run, many_ranks_have_sums, silence_is_noticed_once,
           an_own_stop_is_no_silence, wrong_beats_are_refused)
