/* Snapshots: the search goes back to an earlier state without running the execution again.
 *
 * A snapshot is taken where the search chooses the next thread, so that all threads are suspended.
 * It holds the machine, the threads with their stacks, the arena, and all other static data of the
 * program: the checks and the source under check keep some there.  x_keep excludes what outlives an
 * execution.  Snapshots lie on a stack, as the search is depth first.
 */
#include "explore/execution.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_KEPT = 24, MAX_SNAPSHOTS = 4096 };

typedef struct range {
    unsigned char *low, *high;
} range;

/* The static data of the program, and the sites in it, which are not restored: they cache
 * orders. */
extern unsigned char __data_start[], _end[];                        /* NOLINT */
extern unsigned char __start_explore_sites[] __attribute__((weak)); /* NOLINT */
extern unsigned char __stop_explore_sites[] __attribute__((weak));  /* NOLINT */

static struct {
    range kept[MAX_KEPT]; /* sorted */
    int n_kept;
    unsigned char *bytes;
    size_t capacity, cursor;
    bool saving;
    int n;
    int next[MAX_SNAPSHOTS]; /* the choices made before each */
    size_t at[MAX_SNAPSHOTS];
} snap;

void x_keep(void *p, size_t n)
{
    range r = {p, (unsigned char *)p + n};
    int i = snap.n_kept;
    if (n == 0)
        return;
    for (int k = 0; k < snap.n_kept; k++)
        if (snap.kept[k].low == r.low)
            return;
    if (i == MAX_KEPT)
        abort();
    for (; i > 0 && snap.kept[i - 1].low > r.low; i--)
        snap.kept[i] = snap.kept[i - 1];
    snap.kept[i] = r;
    snap.n_kept++;
}

void snapshot_reset(void)
{
    x_keep(&snap, sizeof snap);
    x_keep(__start_explore_sites,
           (uintptr_t)__stop_explore_sites - (uintptr_t)__start_explore_sites);
    states_keep();
    machine_keep();
    execution_keep();
    snap.n = 0;
    snap.cursor = 0;
}

/* Copy n bytes to or from the snapshot. */
static void copy(void *p, size_t n)
{
    if (snap.saving) {
        if (snap.cursor + n > snap.capacity) {
            snap.capacity = 2 * (snap.cursor + n);
            snap.bytes = realloc(snap.bytes, snap.capacity);
            if (!snap.bytes)
                abort();
        }
        memcpy(snap.bytes + snap.cursor, p, n);
    } else {
        memcpy(p, snap.bytes + snap.cursor, n);
    }
    snap.cursor += n;
}

static void copy_static_data(void)
{
    unsigned char *low = __data_start;
    for (int i = 0; i < snap.n_kept; i++) {
        if (snap.kept[i].low > low)
            copy(low, (size_t)(snap.kept[i].low - low));
        low = snap.kept[i].high;
    }
    copy(low, (uintptr_t)_end - (uintptr_t)low);
}

static void copy_all(void)
{
    copy_static_data();
    machine_copy(copy);
    execution_copy(copy);
}

void snapshot_take(void)
{
    if (snap.n == MAX_SNAPSHOTS)
        abort();
    snap.saving = true;
    snap.next[snap.n] = s.next;
    snap.at[snap.n++] = snap.cursor;
    copy_all();
}

bool snapshot_restore(int chosen)
{
    while (snap.n > 0 && snap.next[snap.n - 1] > chosen)
        snap.n--;
    if (snap.n == 0)
        return false;
    snap.saving = false;
    snap.cursor = snap.at[snap.n - 1];
    copy_all();
    return true;
}
