#include "run/lanes.h"

#include "report.h"

#include <errno.h>
#include <filch/time.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A block takes 5 to 20 us: long enough to hide its own cost, and short enough for a thief. */
#define BLOCK_NS_MIN 5000
#define BLOCK_NS_MAX 20000
#define LOOT_NS_MIN  2000    /* a loot of less work costs more than it saves: filch cluster sim */
#define UNBEGUN_NS   1000000 /* no worker has begun a lane after this time */
#define STUCK_NS     50000   /* a lane is inside a long item after this time */
#define LOOT_BYTES_LIMIT                                                                           \
    ((size_t)INT_MAX - 4096) /* MPI counts the bytes of a message with an int */

enum { BLOCK_ITEMS_MAX = 65536, FLOOR_MIN = 2, FLOOR_MAX = 64 };

struct fi_lane {
    fi_lanes *all;
    fi_lane *next, **link; /* in the list of running or waiting lanes */
    void *bag;
    size_t block_max; /* items of the next block */
    bool gives_next;  /* if both lanes and thieves need work, a thief is next */
    /* Hints for other threads, which split shared bags. */
    FI_ATOMIC(size_t) item_floor; /* a bag with fewer items is not worth splitting */
    FI_ATOMIC(int64_t) since;     /* start of the current block */
    FI_ATOMIC(bool) has_begun;    /* a worker runs the lane */
    _Alignas(16) unsigned char acc[];
};

fi_lanes *fi_lane_all(const fi_lane *lane)
{
    return lane->all;
}

/* ---- lists ---- */

static void packets_push(fi_packet_list *list, fi_packet *p)
{
    p->next = NULL;
    *(list->first ? list->end : &list->first) = p;
    list->end = &p->next;
    list->n++;
}

/* NULL: empty. */
static fi_packet *packets_pop(fi_packet_list *list)
{
    fi_packet *p = list->first;

    if (p) {
        list->first = p->next;
        list->n--;
    }
    return p;
}

static void lane_link(fi_lane **list, fi_lane *lane)
{
    lane->next = *list;
    lane->link = list;
    if (*list)
        (*list)->link = &lane->next;
    *list = lane;
}

static void lane_unlink(fi_lane *lane)
{
    *lane->link = lane->next;
    if (lane->next)
        lane->next->link = lane->link;
}

/* [locked] Relaxed: hints for lanes.  The mutex orders everything that depends on them. */
static void running_add(fi_lanes *l, int n)
{
    fi_store_relaxed(&l->running, fi_load_relaxed(&l->running) + (unsigned)n);
}

static bool is_dropping(const fi_lanes *l)
{
    return fi_load_relaxed(&l->is_dropping);
}

/* [locked] */
static void wanted_update(fi_lanes *l)
{
    unsigned made = l->outbox.n + l->claimed;
    unsigned wanted = l->asked > made && made < FI_OUTBOX_MAX ? l->asked - made : 0;

    fi_store_relaxed(&l->wanted, is_dropping(l) ? 0 : wanted);
}

/* [locked] Does the rank have capacity for work of other ranks? */
static bool is_hungry(const fi_lanes *l)
{
    unsigned running = fi_load_relaxed(&l->running);

    return running == 0 || 2 * running < l->in_flight;
}

/* ---- results ---- */

/* End the run with this result, if it has none yet. */
static void result_set(fi_lanes *l, int result)
{
    pthread_mutex_lock(&l->lock);
    if (l->result == 0)
        l->result = result;
    fi_store_relaxed(&l->is_dropping, true);
    wanted_update(l);
    pthread_mutex_unlock(&l->lock);
    l->ring();
}

int fi_lanes_take_result(fi_lanes *l)
{
    int result;

    pthread_mutex_lock(&l->lock);
    result = l->is_reported ? 0 : l->result;
    l->is_reported |= result != 0;
    pthread_mutex_unlock(&l->lock);
    return result;
}

/* ---- start and end of a lane ---- */

static void lane_main(void *arg);
static void lane_end(fi_lane *lane);

static void bag_drop(fi_lanes *l, void *bag)
{
    l->work.ops->drop(bag, l->work.ctx);
}

static fi_lane *lane_new(fi_lanes *l, void *bag)
{
    fi_lane *lane = l->neutral ? malloc(sizeof *lane + l->work.acc_size) : NULL;

    if (!lane)
        return NULL;
    *lane = (fi_lane){.all = l, .bag = bag, .block_max = 1};
    fi_atomic_init(&lane->item_floor, (size_t)FLOOR_MIN);
    fi_atomic_init(&lane->since, filch_now() + UNBEGUN_NS - STUCK_NS);
    fi_atomic_init(&lane->has_begun, false);
    if (l->work.acc_size > 0)
        memcpy(lane->acc, l->neutral, l->work.acc_size);
    return lane;
}

static void lane_free(fi_lane *lane)
{
    bag_drop(lane->all, lane->bag);
    free(lane);
}

static void lane_run(fi_lane *lane)
{
    fi_lanes *l = lane->all;

    if (filch_group_run(&l->group, lane_main, lane) == 0)
        return;
    result_set(l, -ENOMEM);
    lane_end(lane);
}

/* [locked] Returns true: the lane was added to those that run. */
static bool lane_admit(fi_lanes *l, fi_lane *lane)
{
    bool runs = fi_load_relaxed(&l->running) < l->in_flight;

    lane_link(runs ? &l->lanes : &l->waiting, lane);
    if (runs) {
        running_add(l, 1);
        l->started++;
    }
    return runs;
}

/* Process a bag in a lane of its own, or drop it. */
static void bag_start(fi_lanes *l, void *bag)
{
    fi_lane *lane = lane_new(l, bag);
    bool runs = false, is_late;

    if (!lane) {
        bag_drop(l, bag);
        result_set(l, -ENOMEM);
        return;
    }
    pthread_mutex_lock(&l->lock);
    is_late = is_dropping(l);
    if (!is_late)
        runs = lane_admit(l, lane);
    pthread_mutex_unlock(&l->lock);
    if (is_late)
        lane_free(lane);
    else if (runs)
        lane_run(lane);
}

/* [locked] Returns a lane that waited and may run now; NULL: none. */
static fi_lane *lane_next(fi_lanes *l)
{
    fi_lane *next = is_dropping(l) ? NULL : l->waiting;

    if (next) {
        lane_unlink(next);
        lane_admit(l, next);
    }
    return next;
}

/* [locked] After the end of a lane: does the communication thread have something to do?  It helps
 * from the first lane that ends while the others stay: they may be inside long items. */
static bool end_is_news(const fi_lanes *l)
{
    unsigned running = fi_load_relaxed(&l->running);

    return running == 0 || (l->has_thieves && is_hungry(l)) ||
           (l->work.ops->is_shared && running + 1 == l->in_flight);
}

static void lane_end(fi_lane *lane)
{
    fi_lanes *l = lane->all;
    fi_lane *next;
    bool is_news;

    pthread_mutex_lock(&l->lock);
    if (l->work.acc_size > 0 && !is_dropping(l))
        l->work.combine(l->work.acc, lane->acc, l->work.combine_ctx);
    lane_unlink(lane);
    running_add(l, -1);
    next = lane_next(l);
    is_news = end_is_news(l);
    pthread_mutex_unlock(&l->lock);
    lane_free(lane);
    if (next)
        lane_run(next);
    if (is_news)
        l->ring();
}

/* ---- sharing ---- */

/* A copy of the bag by way of its bytes, as another rank would get it. */
static void *bag_copy(fi_lanes *l, void *bag)
{
    const fi_bag_ops *ops = l->work.ops;
    void *ctx = l->work.ctx, *copy = ops->make(ctx);
    size_t size = ops->pack(bag, NULL, 0, ctx);
    void *bytes = malloc(size > 0 ? size : 1);
    int e = copy && bytes ? 0 : -ENOMEM;

    if (e == 0)
        ops->pack(bag, bytes, size, ctx);
    bag_drop(l, bag);
    if (e == 0)
        e = ops->unpack(copy, bytes, size, ctx);
    free(bytes);
    if (e == 0)
        return copy;
    result_set(l, e);
    if (copy)
        bag_drop(l, copy);
    return NULL;
}

/* Start a lane with about half of the bag.  False: the bag is not worth a split. */
static bool lane_fork(fi_lane *lane)
{
    fi_lanes *l = lane->all;
    fi_split how = {fi_load_relaxed(&lane->item_floor), SIZE_MAX};
    void *part = l->work.ops->split(lane->bag, &how, l->work.ctx);

    if (part && l->checks_copies)
        part = bag_copy(l, part);
    if (part)
        bag_start(l, part);
    return part != NULL;
}

/* True: the caller makes a loot. */
static bool loot_claim(fi_lanes *l)
{
    bool is_claimed;

    pthread_mutex_lock(&l->lock);
    is_claimed = fi_load_relaxed(&l->wanted) > 0;
    l->claimed += is_claimed;
    wanted_update(l);
    pthread_mutex_unlock(&l->lock);
    return is_claimed;
}

/* p: the loot; NULL: the caller made none. */
static void loot_finish(fi_lanes *l, fi_packet *p)
{
    pthread_mutex_lock(&l->lock);
    l->claimed--;
    if (p && !is_dropping(l)) {
        packets_push(&l->outbox, p);
        p = NULL;
    }
    wanted_update(l);
    pthread_mutex_unlock(&l->lock);
    fi_packet_free(p);
}

/* Returns NULL if the part cannot be sent.  Then it stays here, or the run ends. */
static fi_packet *part_pack(fi_lanes *l, void *part)
{
    const fi_bag_ops *ops = l->work.ops;
    size_t size = ops->pack(part, NULL, 0, l->work.ctx);
    fi_packet *p = size <= LOOT_BYTES_LIMIT ? fi_packet_new(size) : NULL;

    if (!p) {
        if (size > LOOT_BYTES_LIMIT)
            result_set(l, -EMSGSIZE);
        bag_start(l, part);
        return NULL;
    }
    if (ops->pack(part, p->body, size, l->work.ctx) != size) {
        fi_report(FILCH_LEVEL_ERROR, "filch_bag_type.pack: two calls for one bag return different "
                                     "sizes; return the same size for the same bag");
        result_set(l, -EINVAL);
    }
    bag_drop(l, part);
    return p;
}

static void lane_give(fi_lane *lane)
{
    fi_lanes *l = lane->all;
    fi_split how = {fi_load_relaxed(&lane->item_floor), l->loot_bytes};
    fi_packet *p = NULL;
    void *part;

    if (!loot_claim(l))
        return;
    part = l->work.ops->split(lane->bag, &how, l->work.ctx);
    if (part)
        p = part_pack(l, part);
    loot_finish(l, p);
    if (part)
        l->ring();
}

void fi_lane_share_slow(fi_lane *lane)
{
    const fi_lanes *l = lane->all;
    bool lacks_lanes = fi_load_relaxed(&l->running) < l->in_flight;
    bool is_wanted = fi_load_relaxed(&l->wanted) > 0;

    if (is_wanted && (lane->gives_next || !lacks_lanes)) {
        lane->gives_next = false;
        lane_give(lane);
    } else if (lacks_lanes) {
        lane->gives_next = true;
        lane_fork(lane);
    }
}

/* [locked] Split the bag of any lane, or of one that is inside a long item.  Behind a long item, a
 * single item is worth a split.  A lane that waits for a worker has no long item.  Its work helps
 * other ranks, but not another lane, which would wait, too. */
static void *any_split(fi_lanes *l, size_t max_bytes, bool only_stuck)
{
    int64_t stuck_since = filch_now() - STUCK_NS;
    fi_split how = {.max_bytes = max_bytes};
    void *part = NULL;

    for (fi_lane *lane = l->lanes; lane && !part; lane = lane->next) {
        bool is_stuck = fi_load_relaxed(&lane->since) < stuck_since;

        how.min_items = is_stuck ? 1 : fi_load_relaxed(&lane->item_floor);
        if (!only_stuck || (is_stuck && fi_load_relaxed(&lane->has_begun)))
            part = l->work.ops->split(lane->bag, &how, l->work.ctx);
    }
    return part;
}

bool fi_lanes_need_help(const fi_lanes *l)
{
    unsigned running = fi_load_relaxed(&l->running);

    return running > 0 && l->work.ops->is_shared &&
           (running < l->in_flight || fi_load_relaxed(&l->wanted) > 0);
}

static void help_thief(fi_lanes *l)
{
    fi_packet *p = NULL;
    void *part;

    if (!loot_claim(l))
        return;
    pthread_mutex_lock(&l->lock);
    part = any_split(l, l->loot_bytes, false);
    pthread_mutex_unlock(&l->lock);
    if (part)
        p = part_pack(l, part);
    loot_finish(l, p);
}

static void help_rank(fi_lanes *l)
{
    void *part = NULL;

    pthread_mutex_lock(&l->lock);
    if (fi_load_relaxed(&l->running) < l->in_flight && !is_dropping(l))
        part = any_split(l, SIZE_MAX, true);
    pthread_mutex_unlock(&l->lock);
    if (part && l->checks_copies)
        part = bag_copy(l, part);
    if (part)
        bag_start(l, part);
}

void fi_lanes_help(fi_lanes *l)
{
    help_thief(l);
    help_rank(l);
}

/* ---- the loop of a lane ---- */

static void block_adapt(fi_lane *lane, const fi_block *block, int64_t ns)
{
    size_t floor = ns > 0 ? LOOT_NS_MIN * block->items / (size_t)ns : FLOOR_MAX;

    floor = floor < FLOOR_MIN ? FLOOR_MIN : floor > FLOOR_MAX ? FLOOR_MAX : floor;
    fi_store_relaxed(&lane->item_floor, floor);
    /* A block that ran out of items says nothing about the time of a full one. */
    if (ns < BLOCK_NS_MIN && block->items >= lane->block_max && lane->block_max < BLOCK_ITEMS_MAX)
        lane->block_max *= 2;
    else if (ns > BLOCK_NS_MAX && lane->block_max > 1)
        lane->block_max /= 2;
}

/* Returns true if the bag may have more. */
static bool lane_block(fi_lane *lane)
{
    fi_lanes *l = lane->all;
    fi_block block = {
        .lane = lane, .acc = l->work.acc_size > 0 ? lane->acc : NULL, .max = lane->block_max};
    bool more = l->work.ops->process(lane->bag, &block, l->work.ctx);
    int64_t now = filch_now();

    block_adapt(lane, &block, now - fi_load_relaxed(&lane->since));
    fi_store_relaxed(&lane->since, now);
    (void)fi_fetch_add_relaxed(&l->items, (uint64_t)block.items);
    if (block.result != 0)
        result_set(l, block.result);
    return more;
}

/* An empty lane takes work of another lane, which may be inside a long item. */
static bool lane_refill(fi_lane *lane)
{
    fi_lanes *l = lane->all;
    void *part, *old;

    if (!l->work.ops->is_shared || fi_load_relaxed(&l->running) < 2)
        return false;
    pthread_mutex_lock(&l->lock);
    part = is_dropping(l) || l->waiting ? NULL : any_split(l, SIZE_MAX, false);
    pthread_mutex_unlock(&l->lock);
    if (part && l->checks_copies)
        part = bag_copy(l, part);
    if (!part)
        return false;
    pthread_mutex_lock(&l->lock); /* another lane may split the bag */
    old = lane->bag;
    lane->bag = part;
    pthread_mutex_unlock(&l->lock);
    bag_drop(l, old);
    return true;
}

/* Share the bag before the first item, which may be long. */
static void lane_unfold(fi_lane *lane)
{
    const fi_lanes *l = lane->all;

    while (fi_load_relaxed(&l->running) < l->in_flight && lane_fork(lane))
        ;
}

static void lane_main(void *arg)
{
    fi_lane *lane = arg;
    bool more = true;

    lane_unfold(lane);
    fi_store_relaxed(&lane->since, filch_now());
    fi_store_relaxed(&lane->has_begun, true);
    while (more && !fi_load_relaxed(&lane->all->is_dropping)) {
        more = lane_block(lane);
        if (more)
            fi_lane_share(lane);
        else
            more = lane_refill(lane);
    }
    lane_end(lane);
}

/* ---- communication thread ---- */

void fi_lanes_init(fi_lanes *l)
{
    pthread_mutex_init(&l->lock, NULL);
}

void fi_lanes_fini(fi_lanes *l)
{
    pthread_mutex_destroy(&l->lock);
}

static void work_set(fi_lanes *l, const fi_work *work)
{
    l->work = *work;
    l->neutral = malloc(work->acc_size > 0 ? work->acc_size : 1);
    if (l->neutral && work->acc_size > 0)
        memcpy(l->neutral, work->acc, work->acc_size);
}

/* A rank that has failed takes part in the run, because the other ranks wait for it. */
void fi_lanes_begin(fi_lanes *l, const fi_work *work, void *bag, int error)
{
    work_set(l, work);
    l->group = (filch_group)FILCH_GROUP_INIT;
    l->asked = l->claimed = 0;
    l->result = 0;
    l->is_reported = false;
    fi_store_relaxed(&l->is_dropping, false);
    wanted_update(l);
    if (error != 0 || !l->neutral)
        result_set(l, error != 0 ? error : -ENOMEM);
    if (bag)
        bag_start(l, bag);
}

void fi_lanes_end(fi_lanes *l)
{
    filch_group_wait(&l->group);
    free(l->neutral);
    l->neutral = NULL;
}

fi_activity fi_lanes_activity(fi_lanes *l)
{
    fi_activity activity = FI_BUSY;

    pthread_mutex_lock(&l->lock);
    if (l->result == 0 || l->is_reported) {
        if (l->lanes == NULL && l->waiting == NULL && l->outbox.n == 0)
            activity = FI_PASSIVE;
        else if (is_hungry(l))
            activity = FI_HUNGRY;
    }
    pthread_mutex_unlock(&l->lock);
    return activity;
}

void fi_lanes_want(fi_lanes *l, unsigned n)
{
    pthread_mutex_lock(&l->lock);
    l->asked = n;
    wanted_update(l);
    pthread_mutex_unlock(&l->lock);
}

void fi_lanes_open(fi_lanes *l, fi_packet *p)
{
    void *bag = l->work.ops->make(l->work.ctx);
    int e = bag ? l->work.ops->unpack(bag, p->body, p->size, l->work.ctx) : -ENOMEM;

    fi_packet_free(p);
    if (e == 0) {
        bag_start(l, bag);
        return;
    }
    if (bag)
        bag_drop(l, bag);
    result_set(l, e);
}

fi_packet *fi_lanes_take_loot(fi_lanes *l)
{
    fi_packet *p;

    pthread_mutex_lock(&l->lock);
    p = packets_pop(&l->outbox);
    wanted_update(l);
    pthread_mutex_unlock(&l->lock);
    return p;
}

void fi_lanes_drop(fi_lanes *l)
{
    fi_packet_list outbox;
    fi_lane *waiting;

    pthread_mutex_lock(&l->lock);
    fi_store_relaxed(&l->is_dropping, true);
    outbox = l->outbox;
    l->outbox = (fi_packet_list){0};
    waiting = l->waiting;
    l->waiting = NULL;
    wanted_update(l);
    pthread_mutex_unlock(&l->lock);
    for (fi_packet *p; (p = packets_pop(&outbox)) != NULL;)
        fi_packet_free(p);
    while (waiting) {
        fi_lane *lane = waiting;
        waiting = lane->next;
        lane_free(lane);
    }
}

unsigned fi_lanes_running(const fi_lanes *l)
{
    return fi_load_relaxed(&l->running);
}
