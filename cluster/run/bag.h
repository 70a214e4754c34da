/* Bags: work that the engine can process, split and send.  Ranges (bags/range.c), pools
 * (bags/pool.c) and bags of the program (bags/user.c) implement this interface. */
#ifndef FI_CLUSTER_BAG_H
#define FI_CLUSTER_BAG_H

#include <stdbool.h>
#include <stddef.h>

typedef struct fi_lane fi_lane;

/* A part of a bag that a lane processes without a pause. */
typedef struct fi_block {
    fi_lane *lane;
    void *acc;    /* of the lane */
    size_t max;   /* items */
    size_t items; /* out: processed */
    int result;   /* out: of a function of the program; not 0: it ends the run */
} fi_block;

/* What to split off. */
typedef struct fi_split {
    size_t min_items; /* leave a bag with fewer items alone, if its type counts them */
    size_t max_bytes; /* of the part when it is packed; a single item may have more */
} fi_split;

typedef struct fi_bag_ops {
    /* Any thread may split the bag while a lane processes it. */
    bool is_shared;
    void *(*make)(void *ctx);
    void (*drop)(void *bag, void *ctx);
    /* Returns true: the bag may have more items. */
    bool (*process)(void *bag, fi_block *block, void *ctx);
    /* Returns a new bag; NULL: there is too little work, or no memory. */
    void *(*split)(void *bag, const fi_split *how, void *ctx);
    /* Returns the number of bytes; they are written if capacity is large enough. */
    size_t (*pack)(const void *bag, void *to, size_t capacity, void *ctx);
    /* Returns 0 or -errno. */
    int (*unpack)(void *bag, const void *from, size_t size, void *ctx);
} fi_bag_ops;

#endif
