/* The hash of a state.  States that differ only in what cannot matter any more should have the same
 * hash, so that one of them is explored.  All other states must have different hashes. */
#include "explore/memory.h"

#include <string.h>

/* Every step is scrambled before the next value is added.  Values are small: with a weaker hash,
 * sequences would collide, and executions would be left out. */
uint64_t machine_mix(uint64_t h, uint64_t v)
{
    h = h * UINT64_C(0x9e3779b97f4a7c15) + v + 1;
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 29) * UINT64_C(0xa0761d6478bd642f);
    return h ^ h >> 32;
}

/* The words are the coefficients of a polynomial, scrambled once at the end.  That takes a third of
 * the time, and the explorer spends most of its time here. */
uint64_t mix_bytes(uint64_t h, const void *p, size_t n)
{
    const unsigned char *b = p;
    uint64_t word = 0, sum = n;
    for (; n >= 8; n -= 8, b += 8) {
        memcpy(&word, b, 8);
        sum = sum * UINT64_C(0xd1342543de82ef95) + word;
    }
    word = 0;
    memcpy(&word, b, n);
    return machine_mix(h, sum * UINT64_C(0xd1342543de82ef95) + word);
}

/* A store that is older than what every running thread has seen cannot be read again, so stores
 * before `low` do not matter.  In tso only the newest can be read. */
static view lowest_seen(int threads)
{
    view low;
    memset(&low, UINT8_MAX, sizeof low);
    if (m.check->mode == MODE_TSO) {
        for (int l = 0; l < m.locations; l++)
            low.seen[l] = (uint8_t)(m.location[l].stores - 1);
        return low;
    }
    for (int i = 0; i < threads; i++) {
        const machine_thread *t = &m.thread[i];
        if (search_ended(i))
            continue;
        for (int l = 0; l < m.locations; l++)
            if (t->cur.seen[l] < low.seen[l])
                low.seen[l] = t->cur.seen[l];
        for (int k = 0; k < t->lates; k++)
            if (t->late[k].waiting && t->late[k].oldest < low.seen[t->late[k].location])
                low.seen[t->late[k].location] = t->late[k].oldest;
    }
    for (int l = 0; l < m.locations; l++)
        if (m.location[l].lock)
            low.seen[l] = (uint8_t)(m.location[l].stores - 1);
    return low;
}

/* The whole array: with fixed bounds the loop becomes a few vector instructions.  Behind the last
 * location the difference is 0. */
static view relative_to(const view *v, const view *low)
{
    view r;
    for (int l = 0; l < MAX_LOCATIONS; l++)
        r.seen[l] = (uint8_t)(v->seen[l] > low->seen[l] ? v->seen[l] - low->seen[l] : 0);
    return r;
}

static uint64_t mix_view(uint64_t h, const view *v, const view *low)
{
    if (m.check->mode != MODE_TSO) {
        view r = relative_to(v, low);
        h = mix_bytes(h, r.seen, sizeof r.seen);
    }
    return m.check->races ? mix_bytes(h, v->clock, sizeof v->clock) : h;
}

static uint64_t thread_hash(const machine_thread *t, const view *low)
{
    uint64_t h = mix_view(1, &t->cur, low);
    h = mix_view(h, &t->acq, low);
    h = mix_view(h, &t->rel, low);
    h = machine_mix(mix_view(h, &t->lit, low), t->buffers_lit);
    for (int i = 0; i < t->lates; i++) {
        const late_load *late = &t->late[i];
        int l = late->location;
        h = machine_mix(h, late->waiting ? (uint64_t)(l * 256 + late->oldest - low->seen[l] + 1)
                                         : late->value);
    }
    for (int i = 0; i < t->buffers; i++) {
        h = machine_mix(machine_mix(h, t->buffer[i].location), t->buffer[i].value);
        h = mix_view(h, &t->buffer[i].carried, low);
    }
    return h;
}

static uint64_t location_hash(uint64_t h, const location *l, uint8_t low_position, const view *low)
{
    h = machine_mix(h, (uint64_t)l->stores - low_position);
    for (int i = low_position; i < l->stores; i++) {
        h = machine_mix(h, l->store[i].value * 2 + (i > low_position && l->store[i].rmw));
        h = mix_view(h, &l->store[i].carried, low);
    }
    return m.check->races ? mix_bytes(h, &l->plain, sizeof l->plain) : h;
}

/* The order of exchangeable threads does not matter, unless clocks distinguish them. */
uint64_t machine_hash(uint64_t (*thread_state)(int thread), int threads)
{
    view low = lowest_seen(threads);
    uint64_t h = 0, others = 0;
    for (int i = 0; i < threads; i++) {
        uint64_t one = machine_mix(thread_hash(&m.thread[i], &low), thread_state(i));
        if (i == 0 || !m.check->exchangeable || m.check->races)
            h = machine_mix(h, one);
        else
            others += machine_mix(one, 7);
    }
    h = mix_view(machine_mix(h, others), &m.fences, &low);
    h = mix_view(h, &m.heavy, &low);
    for (int l = 0; l < m.locations; l++)
        h = location_hash(h, &m.location[l], low.seen[l], &low);
    h = arena_hash(h);
    if (m.check->races)
        h = mix_bytes(h, m.data, sizeof m.data);
    return h;
}
