/* A model of three ranks for the exhaustive check.  Each rank runs the shipped protocol.  The
 * network, the lanes and the order of all actions are the model's.
 *
 * Items have no identity: the model checks after each action that as many items exist as were
 * made.  Time is abstract: a question may expire at any time.
 *
 *     explore_model.c   actions of the lanes, the threads and the network
 *     explore_rules.c   what must hold
 *     explore_state.c   a state as a short string of bytes, for the set of known states
 *     explore_search.c  breadth-first search over all states */
#ifndef EXPLORE_MODEL_H
#define EXPLORE_MODEL_H

#include "protocol/rank.h"

#include <stdbool.h>
#include <stdint.h>

enum { X_RANKS = 3, X_RUNS_MAX = 2, X_MESSAGES_MAX = 32, X_CHILDREN_MAX = 2, X_ERROR_SIZE = 160 };

typedef struct x_bounds {
    const char *name;
    unsigned items;          /* max items of a run: the first ones, and those that handlers push */
    unsigned first[X_RANKS]; /* items with which each rank begins a run */
    unsigned runs;           /* 1 or 2 */
    unsigned random_tries;
    bool is_early;     /* a rank with one item is hungry */
    bool has_results;  /* the handler of each item may return a result */
    bool has_mismatch; /* rank 2 makes another call in the first run */
    bool has_expiry;   /* a question to a busy rank may expire */
    bool has_batches;  /* the thread may take several messages before it reacts */
    bool is_large;     /* takes seconds; left out where programs run slowly */
} x_bounds;

/* A message on its way. */
typedef struct x_message {
    uint8_t kind, from, to, run, call;
    int8_t a;
    uint8_t b;
    uint8_t body; /* items of a loot, or the sum in an accumulator */
} x_message;

typedef struct x_node {
    fi_rank rank;
    struct x_world *world;
    uint8_t items;  /* in the bag of the lane */
    uint8_t outbox; /* items of the loot that waits for the thread; 0: none */
    uint8_t wanted;
    uint8_t acc;     /* items processed */
    bool can_split;  /* the lane has processed an item since it last split */
    bool rings;      /* the lane has news for the thread */
    bool has_result; /* of a handler; the thread does not know it yet */
    bool has_opened; /* a loot, while a message was handled; not part of the state */
} x_node;

/* A run, as seen from outside. */
typedef struct x_run {
    uint8_t made, processed, dropped; /* items */
    uint8_t left;                     /* ranks */
    uint8_t quiet_waves;              /* closed after the last item and loot */
    bool has_result;                  /* a handler returned one */
    int8_t result;                    /* of the first rank that left */
} x_run;

typedef struct x_world {
    const x_bounds *bounds;
    x_node nodes[X_RANKS];
    x_message messages[X_MESSAGES_MAX]; /* sorted */
    unsigned n_messages;
    x_run runs[X_RUNS_MAX];
    char error[X_ERROR_SIZE]; /* the first broken rule; not part of the state */
} x_world;

typedef enum x_action_kind {
    X_ENTER,   /* the rank begins a run */
    X_PROCESS, /* its lane processes an item, which pushes `detail` items */
    X_RESULT,  /* the same, and the handler returns a result */
    X_SPLIT,   /* its lane makes a loot of half of its items */
    X_WAKE,    /* its thread looks at the news of the lane */
    X_EXPIRE,  /* the oldest question has waited long enough */
    X_DELIVER, /* message number `detail` arrives */
    X_ACTIONS,
} x_action_kind;

typedef struct x_action {
    uint8_t kind, rank, detail;
    uint8_t coin; /* the random rank that is asked, if one is */
} x_action;

void x_world_init(x_world *w, const x_bounds *bounds);

/* All actions that are possible.  Returns their number. */
enum { X_ACTIONS_MAX = X_MESSAGES_MAX + X_RANKS * 8 };
unsigned x_world_actions(const x_world *w, x_action list[X_ACTIONS_MAX]);

/* Returns true if the protocol drew a random number: the other coin gives another state. */
bool x_world_act(x_world *w, x_action action);
void x_action_print(const x_world *w, x_action action);

/* explore_rules.c */
void x_error(x_world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool x_is_loot(const x_message *m);
/* The run of rank.run. */
bool x_has_entered(const x_node *node);
bool x_is_finished(const x_world *w);
void x_rules_sent(x_world *w, const x_message *m);
void x_rules_left(x_node *node, int result);
void x_rules_waves(x_world *w, uint64_t closed);
void x_rules_state(x_world *w);
/* No action is possible. */
void x_rules_stuck(x_world *w);

/* explore_state.c: the bytes must have X_STATE_MAX capacity.  Returns their number; 0: a value
 * is too large for the encoding. */
enum { X_STATE_MAX = 1024 };
unsigned x_state_encode(const x_world *w, uint8_t *bytes);
void x_state_decode(x_world *w, const x_bounds *bounds, const uint8_t *bytes);

/* explore_search.c */
typedef struct x_result {
    uint64_t states, transitions;
    unsigned depth;           /* of the search */
    char error[X_ERROR_SIZE]; /* the first broken rule; empty: none */
} x_result;

/* Visit all states, or at most states_max; more is an error.  has_trace: print the actions that
 * lead to a broken rule. */
x_result x_search(const x_bounds *bounds, uint64_t states_max, bool has_trace);

/* explore_bounds.c: terminated by an entry without a name. */
extern const x_bounds x_all_bounds[];

#endif
