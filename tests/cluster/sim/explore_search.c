/* Breadth-first search over all states of the model.
 *
 * A state is stored as bytes until it has been expanded.  The set of known states has a hash of
 * 64 bits for each.  Two of a million states have the same hash with a probability of 3e-8.  The
 * search also keeps all transitions.  At the end it checks that the end of the last run can be
 * reached from each state.  So there is neither a deadlock nor a group of states that the ranks
 * cannot leave.  Cycles are allowed: waves follow each other while the network holds a loot. */
#include "explore_model.h"
#include "sim/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 1024u

/* ---- growing arrays ---- */

typedef struct bytes {
    uint8_t *data;
    size_t n, capacity;
} bytes;

static void *bytes_append(bytes *b, const void *data, size_t n)
{
    while (b->n + n > b->capacity) {
        b->capacity = b->capacity ? 2 * b->capacity : FIRST_CAPACITY;
        b->data = realloc(b->data, b->capacity);
        if (!b->data)
            abort();
    }
    memcpy(b->data + b->n, data, n);
    b->n += n;
    return b->data + b->n - n;
}

static void bytes_free(bytes *b)
{
    free(b->data);
    *b = (bytes){0};
}

/* ---- known states ---- */

typedef struct slot {
    uint64_t hash; /* 0: empty */
    uint32_t state;
} slot;

typedef struct set {
    slot *slots;
    size_t capacity; /* a power of 2 */
    uint32_t n;
} set;

static slot *set_find(const set *s, uint64_t hash)
{
    size_t i = hash & (s->capacity - 1);

    while (s->slots[i].hash != 0 && s->slots[i].hash != hash)
        i = (i + 1) & (s->capacity - 1);
    return &s->slots[i];
}

static void set_grow(set *s)
{
    set old = *s;

    s->capacity = old.capacity ? 2 * old.capacity : FIRST_CAPACITY;
    s->slots = calloc(s->capacity, sizeof *s->slots);
    if (!s->slots)
        abort();
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].hash != 0)
            *set_find(s, old.slots[i].hash) = old.slots[i];
    free(old.slots);
}

/* Returns the number of the state.  *is_new: it was not known. */
static uint32_t set_add(set *s, uint64_t hash, bool *is_new)
{
    slot *found;

    if (2 * (size_t)s->n >= s->capacity)
        set_grow(s);
    found = set_find(s, hash);
    *is_new = found->hash == 0;
    if (*is_new)
        *found = (slot){hash, s->n++};
    return found->state;
}

/* ---- the search ---- */

/* How a state was reached first. */
typedef struct origin {
    uint32_t from;
    x_action action;
} origin;

typedef struct search {
    const x_bounds *bounds;
    set known;
    bytes layer, next; /* states to expand: the length, then the bytes */
    bytes origins;     /* origin of each state */
    bytes ends;        /* of each expanded state: uint32_t, the end of its targets */
    bytes targets;     /* uint32_t: the states to which the transitions lead */
    bytes finished;    /* uint32_t: the states after the last run */
    x_result result;
} search;

static uint64_t state_hash(const uint8_t *state, unsigned n)
{
    uint64_t hash = n, word;

    for (unsigned i = 0; i < n; i += 8) {
        word = 0;
        memcpy(&word, state + i, n - i < 8 ? n - i : 8);
        hash = fi_mix((hash ^ word) + FI_GOLDEN);
    }
    return hash ? hash : 1;
}

/* Add the world to the states.  Returns its number. */
static uint32_t state_add(search *s, const x_world *w, origin how)
{
    uint8_t state[X_STATE_MAX + sizeof w->messages];
    uint16_t n = (uint16_t)x_state_encode(w, state);
    bool is_new;
    uint32_t number;

    if (n == 0)
        snprintf(s->result.error, sizeof s->result.error, "a value is too large for the encoding");
    number = set_add(&s->known, state_hash(state, n), &is_new);
    if (is_new) {
        bytes_append(&s->next, &n, sizeof n);
        bytes_append(&s->next, state, n);
        bytes_append(&s->origins, &how, sizeof how);
        if (x_is_finished(w))
            bytes_append(&s->finished, &number, sizeof number);
    }
    return number;
}

static void trace_print(const search *s, uint32_t state, x_world *w)
{
    const origin *o = (const origin *)(const void *)s->origins.data + state;

    if (state == 0) {
        x_world_init(w, s->bounds);
        return;
    }
    trace_print(s, o->from, w);
    x_action_print(w, o->action);
    x_world_act(w, o->action);
}

static void error_keep(search *s, const x_world *w)
{
    memcpy(s->result.error, w->error, sizeof w->error);
}

/* Returns true if the other coin gives another state. */
static bool transition(search *s, const x_world *from, uint32_t state, x_action action)
{
    x_world w = *from;
    bool has_drawn;
    uint32_t to;

    for (unsigned i = 0; i < X_RANKS; i++) {
        w.nodes[i].world = &w;
        w.nodes[i].rank.ctx = &w.nodes[i];
        w.nodes[i].rank.acc = &w.nodes[i].acc;
    }
    has_drawn = x_world_act(&w, action);
    if (w.error[0] != '\0') {
        error_keep(s, &w);
        return false;
    }
    to = state_add(s, &w, (origin){state, action});
    bytes_append(&s->targets, &to, sizeof to);
    s->result.transitions++;
    return has_drawn;
}

static x_action state_expand(search *s, uint32_t state, const uint8_t *data)
{
    x_world w;
    x_action list[X_ACTIONS_MAX] = {0};
    unsigned n, i;
    uint32_t end;

    x_state_decode(&w, s->bounds, data);
    n = x_world_actions(&w, list);
    if (n == 0)
        x_rules_stuck(&w);
    if (w.error[0] != '\0')
        error_keep(s, &w);
    for (i = 0; i < n && s->result.error[0] == '\0'; i++) {
        if (transition(s, &w, state, list[i])) {
            list[i].coin = 1;
            transition(s, &w, state, list[i]);
        }
    }
    end = (uint32_t)s->result.transitions;
    bytes_append(&s->ends, &end, sizeof end);
    return list[i > 0 ? i - 1 : 0];
}

static void error_trace(const search *s, uint32_t state, x_action last)
{
    x_world w;

    trace_print(s, state, &w);
    x_action_print(&w, last);
    printf("%s: %s\n", s->bounds->name, s->result.error);
}

/* Expand all states of one distance from the first state. */
static uint32_t layer_expand(search *s, uint32_t state, bool has_trace)
{
    size_t at = 0;

    while (at < s->layer.n && s->result.error[0] == '\0') {
        uint16_t n;
        x_action last;

        memcpy(&n, s->layer.data + at, sizeof n);
        last = state_expand(s, state, s->layer.data + at + sizeof n);
        if (s->result.error[0] != '\0' && has_trace)
            error_trace(s, state, last);
        at += sizeof n + n;
        state++;
    }
    return state;
}

/* ---- the end can be reached ---- */

static uint32_t *numbers_new(size_t n)
{
    uint32_t *numbers = calloc(n + 1, sizeof *numbers);

    if (!numbers)
        abort();
    return numbers;
}

/* The transitions from the other side: those to state i come from sources[begins[i]] to
 * sources[begins[i + 1] - 1]. */
typedef struct reverse {
    uint32_t *begins, *sources;
} reverse;

static reverse reverse_new(const search *s)
{
    const uint32_t *ends = (const uint32_t *)(const void *)s->ends.data;
    const uint32_t *targets = (const uint32_t *)(const void *)s->targets.data;
    reverse r = {numbers_new(s->known.n + 1), numbers_new(s->result.transitions)};
    uint32_t t = 0;

    for (size_t i = 0; i < s->result.transitions; i++)
        r.begins[targets[i] + 2]++;
    for (uint32_t i = 2; i <= s->known.n; i++)
        r.begins[i] += r.begins[i - 1];
    for (uint32_t from = 0; from < s->known.n; from++)
        for (; t < ends[from]; t++)
            r.sources[r.begins[targets[t] + 1]++] = from;
    return r;
}

/* Walk from the finished states against the transitions. */
static uint32_t n_states_with_end(const search *s)
{
    const uint32_t *finished = (const uint32_t *)(const void *)s->finished.data;
    uint32_t *visited = numbers_new(s->known.n), n = 0;
    bool *is_visited = calloc(s->known.n, sizeof *is_visited);
    reverse r = reverse_new(s);

    if (!is_visited)
        abort();
    for (size_t i = 0; i < s->finished.n / sizeof *finished; i++) {
        visited[n++] = finished[i];
        is_visited[finished[i]] = true;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = r.begins[visited[i]]; k < r.begins[visited[i] + 1]; k++)
            if (!is_visited[r.sources[k]]) {
                is_visited[r.sources[k]] = true;
                visited[n++] = r.sources[k];
            }
    free(visited);
    free(is_visited);
    free(r.begins);
    free(r.sources);
    return n;
}

static void layers_expand(search *s, uint64_t states_max, bool has_trace)
{
    uint32_t state = 0;

    while (s->next.n > 0 && s->result.error[0] == '\0') {
        bytes swap = s->layer;

        s->layer = s->next;
        s->next = swap;
        s->next.n = 0;
        state = layer_expand(s, state, has_trace);
        s->result.depth++;
        if (s->known.n > states_max)
            snprintf(s->result.error, sizeof s->result.error, "more than %llu states",
                     (unsigned long long)states_max);
    }
}

x_result x_search(const x_bounds *bounds, uint64_t states_max, bool has_trace)
{
    search s = {.bounds = bounds};
    x_world w;

    x_world_init(&w, bounds);
    state_add(&s, &w, (origin){0});
    layers_expand(&s, states_max, has_trace);
    if (s.result.error[0] == '\0' && n_states_with_end(&s) < s.known.n)
        snprintf(s.result.error, sizeof s.result.error, "some states never lead to the end");
    s.result.states = s.known.n;
    free(s.known.slots);
    bytes_free(&s.layer);
    bytes_free(&s.next);
    bytes_free(&s.origins);
    bytes_free(&s.ends);
    bytes_free(&s.targets);
    bytes_free(&s.finished);
    return s.result;
}
