/* Bags of the program: filch_cluster_run. */
#include "run/run.h"

#include <filch/cluster.h>

typedef struct user_call {
    const filch_bag_type *type;
    void *ctx;
} user_call;

static void *user_make(void *ctx)
{
    const user_call *call = ctx;

    return call->type->make(call->ctx);
}

static void user_drop(void *bag, void *ctx)
{
    const user_call *call = ctx;

    call->type->drop(bag, call->ctx);
}

/* The number of items in the last block of a bag is not known.  It counts as none. */
static bool user_process(void *bag, fi_block *block, void *ctx)
{
    const user_call *call = ctx;
    int e = call->type->process(bag, block->max, block->acc, call->ctx);

    if (e > 0)
        block->items = block->max;
    if (e < 0)
        block->result = e;
    return e > 0;
}

/* The program splits by its own measure, so a part may be too large.  Then half of the part is
 * taken, and the rest goes back. */
static void *user_split(void *bag, const fi_split *how, void *ctx)
{
    const user_call *call = ctx;
    void *part = call->type->split(bag, call->ctx);

    while (part && how->max_bytes < SIZE_MAX &&
           call->type->pack(part, NULL, 0, call->ctx) > how->max_bytes) {
        void *half = call->type->split(part, call->ctx);

        if (!half)
            break;
        call->type->merge(bag, part, call->ctx);
        part = half;
    }
    return part;
}

static size_t user_pack(const void *bag, void *to, size_t capacity, void *ctx)
{
    const user_call *call = ctx;

    return call->type->pack(bag, to, capacity, call->ctx);
}

static int user_unpack(void *bag, const void *from, size_t size, void *ctx)
{
    const user_call *call = ctx;

    return call->type->unpack(bag, from, size, call->ctx);
}

static const fi_bag_ops user_ops = {
    .make = user_make,
    .drop = user_drop,
    .process = user_process,
    .split = user_split,
    .pack = user_pack,
    .unpack = user_unpack,
};

static int type_check(const char *function, const filch_bag_type *type)
{
    if (!type)
        return fi_run_null(function, "type", "a type");
    if (type->make && type->drop && type->process && type->split && type->merge && type->pack &&
        type->unpack)
        return 0;
    return fi_run_null(function, "a function of type", "all but combine");
}

int filch_cluster_run(const filch_bag_type *type, void *bag, void *acc, void *ctx)
{
    user_call call = {type, ctx};
    fi_work work = {.ops = &user_ops, .ctx = &call, .acc = acc, .combine_ctx = ctx};
    uint64_t size;
    int e = type_check(__func__, type);

    if (e < 0)
        return e;
    size = work.acc_size = type->acc_size;
    work.combine = type->combine;
    return fi_run(__func__, fi_call_hash(FI_CALL_BAGS, &size, 1), &work, bag, 0);
}
