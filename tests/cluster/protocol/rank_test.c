/* One rank, whose host and other ranks are the test. */
#include "check.h"
#include "protocol/rank.h"

#include <stdbool.h>

enum { SENT_MAX = 256, RANKS = 16, ANSWER_NS = 100, CALL = 5 };

typedef struct sent {
    unsigned to;
    fi_header head;
} sent;

/* What the rank has done. */
typedef struct test_host {
    fi_rank rank;
    sent sent[SENT_MAX];
    unsigned n;
    fi_activity activity;
    unsigned wanted, opened, dropped, left;
    int result, error;
} test_host;

static void host_send(void *ctx, unsigned to, fi_packet *p)
{
    test_host *h = ctx;

    CHECK(h->n < SENT_MAX);
    h->sent[h->n++] = (sent){to, p->head};
    fi_packet_free(p);
}

static fi_activity host_activity(void *ctx)
{
    return ((test_host *)ctx)->activity;
}

static void host_want(void *ctx, unsigned n)
{
    ((test_host *)ctx)->wanted = n;
}

static void host_open(void *ctx, fi_packet *p)
{
    test_host *h = ctx;

    h->opened++;
    h->activity = FI_BUSY;
    fi_packet_free(p);
}

static void host_drop(void *ctx)
{
    ((test_host *)ctx)->dropped++;
}

static void host_combine(void *ctx, const void *other)
{
    (void)ctx;
    (void)other;
}

static void host_leave(void *ctx, int result)
{
    test_host *h = ctx;

    h->left++;
    h->result = result;
}

static void host_fail(void *ctx, int error)
{
    ((test_host *)ctx)->error = error;
}

static const fi_host host = {
    .send = host_send,
    .activity = host_activity,
    .want = host_want,
    .open = host_open,
    .drop = host_drop,
    .combine = host_combine,
    .leave = host_leave,
    .fail = host_fail,
};

static fi_rank_settings settings_of(unsigned rank, unsigned ranks)
{
    return (fi_rank_settings){
        .rank = rank, .ranks = ranks, .random_tries = 2, .answer_ns = ANSWER_NS, .seed = 1};
}

/* A rank in its first run, before it has work to do or has sent anything. */
static void host_init(test_host *h, const fi_rank_settings *set, fi_activity activity)
{
    *h = (test_host){.activity = activity};
    fi_rank_init(&h->rank, set, &host, h);
    fi_rank_begin(&h->rank, CALL, NULL, 0, 0);
}

static void receive(test_host *h, fi_kind kind, unsigned from, int64_t now)
{
    fi_packet *p = fi_packet_new(0);

    CHECK(p != NULL);
    p->head = (fi_header){.kind = (uint16_t)kind, .run = 1, .call = CALL, .from = from};
    fi_rank_receive(&h->rank, p, now);
    fi_rank_step(&h->rank, now);
}

/* The last message must be of this kind.  Returns its receiver. */
static unsigned last_sent(const test_host *h, fi_kind kind)
{
    CHECK(h->n > 0);
    CHECK_STR(fi_kind_name(h->sent[h->n - 1].head.kind), fi_kind_name(kind));
    return h->sent[h->n - 1].to;
}

static void give(test_host *h, bool is_taken)
{
    fi_packet *p = fi_packet_new(0);

    CHECK(p != NULL);
    CHECK_INT(fi_rank_give(&h->rank, p), is_taken);
    if (!is_taken)
        fi_packet_free(p);
}

/* ---- thief ---- */

static void a_hungry_rank_asks_random_ranks_then_its_lifelines(void **state)
{
    test_host h;
    fi_rank_settings set = settings_of(5, RANKS);
    uint32_t asked = 0;

    (void)state;
    host_init(&h, &set, FI_PASSIVE);
    for (unsigned i = 0; i < 2; i++)
        receive(&h, FI_NO, last_sent(&h, FI_ASK), 0);
    for (unsigned i = 0; i < 4; i++) {
        asked |= 1u << last_sent(&h, FI_LIFE);
        receive(&h, FI_NO, last_sent(&h, FI_LIFE), 0);
    }
    CHECK_INT(asked, 1u << 4 | 1u << 7 | 1u << 1 | 1u << 13);
    CHECK_INT(h.rank.thief.armed, 0xf);
    CHECK_INT(h.n, 6);
    fi_rank_step(&h.rank, 1);
    CHECK_INT(h.n, 6);
    CHECK_INT(h.error, 0);
}

/* Ask until the first lifeline is asked.  Returns it. */
static unsigned first_lifeline(test_host *h)
{
    while (h->sent[h->n - 1].head.kind == FI_ASK)
        receive(h, FI_NO, last_sent(h, FI_ASK), 0);
    return last_sent(h, FI_LIFE);
}

static void a_gift_before_its_no_does_not_arm_the_lifeline(void **state)
{
    test_host h;
    fi_rank_settings set = settings_of(5, RANKS);
    unsigned other;

    (void)state;
    host_init(&h, &set, FI_PASSIVE);
    other = first_lifeline(&h);
    receive(&h, FI_GIFT, other, 0);
    CHECK_INT(h.opened, 1);
    CHECK_INT(h.rank.thief.is_open, 1);
    receive(&h, FI_NO, other, 0);
    CHECK_INT(h.rank.thief.armed, 0);
    CHECK_INT(h.rank.thief.early, 0);
}

static void an_answer_without_a_question_is_an_error(void **state)
{
    test_host h;
    fi_rank_settings set = settings_of(5, RANKS);

    (void)state;
    host_init(&h, &set, FI_BUSY);
    receive(&h, FI_NO, 4, 0);
    CHECK(h.error < 0);
    CHECK_INT(h.rank.counters.refusals, 0);
}

static unsigned n_near_asked(test_host *h, unsigned n)
{
    unsigned near = 0;

    for (unsigned i = 0; i < n; i++) {
        unsigned to = last_sent(h, FI_ASK);

        CHECK(to != h->rank.set.rank && to < RANKS);
        near += to == 4 || to == 6;
        receive(h, FI_NO, to, 0);
    }
    return near;
}

/* At random 2 of 15 ranks would be near. */
static void half_of_the_random_questions_go_to_the_same_node(void **state)
{
    static const unsigned near[] = {4, 5, 6};
    test_host h;
    fi_rank_settings set = settings_of(5, RANKS);
    unsigned n;

    (void)state;
    set.near = near;
    set.n_near = 3;
    set.random_tries = 200;
    host_init(&h, &set, FI_PASSIVE);
    n = n_near_asked(&h, 200);
    CHECK(n > 75 && n < 150);
}

/* ---- victim ---- */

static void a_question_gets_a_loot_or_expires(void **state)
{
    test_host h;
    fi_rank_settings set = settings_of(5, RANKS);

    (void)state;
    host_init(&h, &set, FI_BUSY);
    receive(&h, FI_ASK, 1, 0);
    receive(&h, FI_ASK, 2, 10);
    CHECK_INT(h.wanted, 2);
    give(&h, true);
    CHECK_INT(last_sent(&h, FI_LOOT), 1);
    CHECK_INT(fi_rank_deadline(&h.rank), 10 + ANSWER_NS);
    fi_rank_step(&h.rank, 9 + ANSWER_NS);
    CHECK_INT(h.n, 1);
    fi_rank_step(&h.rank, 10 + ANSWER_NS);
    CHECK_INT(last_sent(&h, FI_NO), 2);
    CHECK_INT(h.wanted, 0);
    CHECK(fi_rank_deadline(&h.rank) == INT64_MAX);
    give(&h, false);
}

static void a_lifeline_that_was_refused_gets_a_gift(void **state)
{
    test_host h;
    fi_rank_settings set = settings_of(5, RANKS);

    (void)state;
    host_init(&h, &set, FI_BUSY);
    receive(&h, FI_LIFE, 4, 0);
    fi_rank_step(&h.rank, ANSWER_NS);
    CHECK_INT(last_sent(&h, FI_NO), 4);
    CHECK_INT(h.wanted, 1);
    give(&h, true);
    CHECK_INT(last_sent(&h, FI_GIFT), 4);
    CHECK_INT(h.rank.end.sent, 1);
    give(&h, false);
}

static void the_65th_question_is_refused_at_once(void **state)
{
    test_host h;
    fi_rank_settings set = settings_of(5, 200);

    (void)state;
    host_init(&h, &set, FI_BUSY);
    for (unsigned i = 0; i < FI_ASKS_MAX; i++)
        receive(&h, FI_ASK, 100 + i, 0);
    CHECK_INT(h.n, 0);
    receive(&h, FI_ASK, 7, 0);
    CHECK_INT(last_sent(&h, FI_NO), 7);
    CHECK_INT(h.wanted, FI_ASKS_MAX);
}

/* ---- the end ---- */

static void a_run_of_one_rank_ends_when_it_is_passive(void **state)
{
    test_host h;
    fi_rank_settings set = settings_of(0, 1);

    (void)state;
    host_init(&h, &set, FI_BUSY);
    CHECK_INT(h.left, 0);
    h.activity = FI_PASSIVE;
    fi_rank_step(&h.rank, 0);
    CHECK_INT(h.left, 1);
    CHECK_INT(h.rank.counters.waves, 2);
    CHECK_INT(h.n, 0);
}

static void a_busy_rank_holds_the_wave(void **state)
{
    test_host h;
    fi_rank_settings set = settings_of(5, RANKS);

    (void)state;
    host_init(&h, &set, FI_BUSY);
    receive(&h, FI_WAVE, 0, 0);
    CHECK_INT(h.n, 0);
    h.activity = FI_PASSIVE;
    fi_rank_step(&h.rank, 0);
    CHECK_INT(last_sent(&h, FI_COUNT), 0);
}

static void a_stop_drops_the_work_once(void **state)
{
    test_host h;
    fi_rank_settings set = settings_of(5, RANKS);

    (void)state;
    host_init(&h, &set, FI_BUSY);
    fi_rank_stop(&h.rank, 7);
    CHECK_INT(last_sent(&h, FI_STOP), 0);
    fi_rank_stop(&h.rank, 8);
    receive(&h, FI_STOP, 0, 0);
    CHECK_INT(h.dropped, 1);
    CHECK_INT(h.rank.result, 7);
    CHECK_INT(h.n, 1);
}

static void a_message_of_a_later_run_is_an_error(void **state)
{
    test_host h;
    fi_rank_settings set = settings_of(5, RANKS);
    fi_packet *p = fi_packet_new(0);

    (void)state;
    CHECK(p != NULL);
    host_init(&h, &set, FI_BUSY);
    p->head = (fi_header){.kind = FI_ASK, .run = 3, .call = CALL, .from = 1};
    fi_rank_receive(&h.rank, p, 0);
    CHECK(h.error < 0);
}

CHECK_MAIN(a_hungry_rank_asks_random_ranks_then_its_lifelines,
           a_gift_before_its_no_does_not_arm_the_lifeline, an_answer_without_a_question_is_an_error,
           half_of_the_random_questions_go_to_the_same_node, a_question_gets_a_loot_or_expires,
           a_lifeline_that_was_refused_gets_a_gift, the_65th_question_is_refused_at_once,
           a_run_of_one_rank_ends_when_it_is_passive, a_busy_rank_holds_the_wave,
           a_stop_drops_the_work_once, a_message_of_a_later_run_is_an_error)
