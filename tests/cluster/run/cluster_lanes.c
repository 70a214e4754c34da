/* Lanes without the communication thread: loots that come while all lanes run, and after the end. */
#include "check.h"

#include "run/lanes.h"

#include <errno.h>
#include <filch/runtime.h>
#include <filch/sync.h>
#include <stdatomic.h>

enum { LOOTS = 5 };

static atomic_int bags, running, running_max, processed;
static filch_event gate; /* set: bags are processed */

static void *bag_make(void *ctx)
{
    (void)ctx;
    atomic_fetch_add(&bags, 1);
    return malloc(1);
}

static void bag_drop(void *bag, void *ctx)
{
    (void)ctx;
    atomic_fetch_sub(&bags, 1);
    free(bag);
}

static bool bag_process(void *bag, fi_block *block, void *ctx)
{
    int n = atomic_fetch_add(&running, 1) + 1;

    (void)bag;
    if (n > atomic_load(&running_max))
        atomic_store(&running_max, n);
    filch_event_wait(&gate);
    atomic_fetch_add(&processed, 1);
    atomic_fetch_sub(&running, 1);
    block->items = 1;
    block->result = ctx ? *(const int *)ctx : 0;
    return false;
}

static void *bag_split(void *bag, const fi_split *how, void *ctx)
{
    (void)bag, (void)how, (void)ctx;
    return NULL;
}

static size_t bag_pack(const void *bag, void *to, size_t capacity, void *ctx)
{
    (void)bag, (void)to, (void)capacity, (void)ctx;
    return 0;
}

static int bag_unpack(void *bag, const void *from, size_t size, void *ctx)
{
    (void)bag, (void)from, (void)ctx;
    return size == 0 ? 0 : -EPROTO;
}

static const fi_bag_ops ops = {.make = bag_make,
                               .drop = bag_drop,
                               .process = bag_process,
                               .split = bag_split,
                               .pack = bag_pack,
                               .unpack = bag_unpack};

static void no_ring(void)
{
}

static fi_lanes lanes;

static void lanes_begin(unsigned in_flight, int *result)
{
    const fi_work work = {.ops = &ops, .ctx = result};

    CHECK(filch_start(NULL) >= 0);
    atomic_store(&running_max, 0);
    atomic_store(&processed, 0);
    filch_event_reset(&gate);
    lanes = (fi_lanes){.in_flight = in_flight, .ring = no_ring};
    fi_lanes_init(&lanes);
    fi_lanes_begin(&lanes, &work, NULL, 0);
}

/* All lanes have ended. */
static void lanes_end(void)
{
    fi_lanes_end(&lanes);
    CHECK_INT(atomic_load(&bags), 0);
}

static void lanes_stop(void)
{
    fi_lanes_fini(&lanes);
    CHECK_INT(filch_stop(), 0);
}

static void loots_wait_for_a_lane(void **state)
{
    (void)state;
    lanes_begin(2, NULL);
    CHECK_INT(fi_lanes_activity(&lanes), FI_PASSIVE);
    for (int i = 0; i < LOOTS; i++)
        fi_lanes_open(&lanes, fi_packet_new(0));
    CHECK_INT(fi_lanes_running(&lanes), 2);
    CHECK_INT(fi_lanes_activity(&lanes), FI_BUSY);
    CHECK_INT(atomic_load(&bags), LOOTS);
    filch_event_set(&gate);
    lanes_end();
    CHECK_INT(fi_lanes_activity(&lanes), FI_PASSIVE);
    CHECK_INT(atomic_load(&processed), LOOTS);
    CHECK(atomic_load(&running_max) <= 2);
    lanes_stop();
}

/* Loots that wait, and those that come later, are dropped. */
static void work_is_dropped(void **state)
{
    (void)state;
    lanes_begin(1, NULL);
    fi_lanes_open(&lanes, fi_packet_new(0));
    fi_lanes_open(&lanes, fi_packet_new(0));
    fi_lanes_drop(&lanes);
    fi_lanes_open(&lanes, fi_packet_new(0));
    CHECK_INT(atomic_load(&bags), 1);
    CHECK_INT(fi_lanes_running(&lanes), 1);
    filch_event_set(&gate);
    lanes_end();
    CHECK(atomic_load(&processed) <= 1);
    lanes_stop();
}

/* A rank with a result that the protocol does not know is not passive. */
static void a_result_is_reported_once(void **state)
{
    int result = 42;

    (void)state;
    lanes_begin(1, &result);
    filch_event_set(&gate);
    fi_lanes_open(&lanes, fi_packet_new(0));
    lanes_end();
    CHECK_INT(fi_lanes_activity(&lanes), FI_BUSY);
    CHECK_INT(fi_lanes_take_result(&lanes), 42);
    CHECK_INT(fi_lanes_take_result(&lanes), 0);
    CHECK_INT(fi_lanes_activity(&lanes), FI_PASSIVE);
    lanes_stop();
}

static void a_damaged_loot_ends_the_run(void **state)
{
    (void)state;
    lanes_begin(1, NULL);
    fi_lanes_open(&lanes, fi_packet_new(3));
    CHECK_INT(fi_lanes_take_result(&lanes), -EPROTO);
    lanes_end();
    lanes_stop();
}

CHECK_MAIN(loots_wait_for_a_lane, work_is_dropped, a_result_is_reported_once,
           a_damaged_loot_ends_the_run)
