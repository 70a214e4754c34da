/* The book of paths. */
#include "sched/path.h"

#include "base/at_fork.h"
#include "base/clock.h"
#include "base/fatal.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/tls.h"
#include "sched/fiber.h"

#include <string.h>

#define FIRST_ROOM 1024u /* pages; a power of two */
#define TRIES      1000

typedef struct path {
    uint64_t ticks, burdened;
} path;

typedef struct page {
    uintptr_t of; /* 0: empty */
    path path;
} page;

static struct {
    fi_lock lock; /* guards all that follows */
    page *pages;
    size_t room, used;
    uint64_t burden_ticks;
    path now;       /* of what runs, until the last look at the clock */
    path saved;     /* while it is hidden */
    uint64_t since; /* that look */
    bool runs;      /* a fiber, on the one worker */
    path outside;   /* of all threads that are no workers */
    path longest;
    fi_path_sums sums;
} book;

FI_ATOMIC(uint32_t) fi_path_on;
uint64_t (*fi_path_clock)(void) = fi_clock_ticks;

/* ---- pages ---- */

static size_t slot_of(uintptr_t of)
{
    return (size_t)((of >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (book.room - 1);
}

/* Where its page is, or would be. */
static page *look_up(uintptr_t of)
{
    size_t i = slot_of(of);

    while (book.pages[i].of != 0 && book.pages[i].of != of)
        i = (i + 1) & (book.room - 1);
    return &book.pages[i];
}

static void make_room(size_t room)
{
    page *old = book.pages;
    size_t old_room = book.room;

    book.pages = FI_NEW_ARRAY(page, room);
    if (!book.pages)
        fi_fatal("no memory to follow the longest chain of work (FILCH_SCALE)");
    book.room = room;
    for (size_t i = 0; i < old_room; i++)
        if (old[i].of != 0)
            *look_up(old[i].of) = old[i];
    if (old)
        FI_DELETE_ARRAY(page, old, old_room);
}

static page *page_for(const void *what)
{
    page *p = look_up((uintptr_t)what);

    if (p->of != 0)
        return p;
    if (++book.used > book.room / 2) {
        make_room(book.room * 2);
        p = look_up((uintptr_t)what);
    }
    p->of = (uintptr_t)what;
    p->path = (path){0};
    return p;
}

/* Those behind it, up to the next empty page, may have been pushed there by it. */
static void close_gap(size_t gap)
{
    size_t mask = book.room - 1;

    for (size_t i = (gap + 1) & mask; book.pages[i].of != 0; i = (i + 1) & mask) {
        size_t wanted = slot_of(book.pages[i].of);
        if (((i - wanted) & mask) < ((i - gap) & mask))
            continue;
        book.pages[gap] = book.pages[i];
        gap = i;
    }
    book.pages[gap].of = 0;
}

static path read_page(const void *what)
{
    const page *p = look_up((uintptr_t)what);

    return p->of != 0 ? p->path : (path){0};
}

/* And there is no page of it any more. */
static path tear_out(const void *what)
{
    page *p = look_up((uintptr_t)what);
    path out = p->path;

    if (p->of == 0)
        return (path){0};
    book.used--;
    close_gap((size_t)(p - book.pages));
    return out;
}

/* ---- paths ---- */

static path longer(path a, path b)
{
    if (a.ticks < b.ticks)
        a.ticks = b.ticks;
    if (a.burdened < b.burdened)
        a.burdened = b.burdened;
    return a;
}

static void write_longer(const void *what, path p)
{
    page *to = page_for(what);

    to->path = longer(to->path, p);
}

static path taken_elsewhere(path p)
{
    p.burdened += book.burden_ticks;
    return p;
}

/* Of whoever calls; of a worker that runs nothing, none. */
static path *own(void)
{
    static path none;

    if (!fi_tls_worker())
        return &book.outside;
    none = (path){0};
    return book.runs ? &book.now : &none;
}

/* ---- the clock ---- */

/* What has run until now is added to its path.  What we do here is not. */
static void open_book(void)
{
    uint64_t ticks;

    fi_lock_lock(&book.lock);
    if (!book.runs)
        return;
    ticks = fi_path_clock() - book.since;
    ticks = ticks > book.sums.look_ticks ? ticks - book.sums.look_ticks : 0;
    book.now.ticks += ticks;
    book.now.burdened += ticks;
    book.sums.work_ticks += ticks;
    book.sums.looks++;
}

static void shut_book(void)
{
    if (book.runs)
        book.since = fi_path_clock();
    fi_lock_unlock(&book.lock);
}

/* How long nothing takes. */
static void calibrate(void)
{
    uint64_t least = UINT64_MAX;

    book.sums = (fi_path_sums){0}; /* what an earlier runtime has found is not taken off */
    book.runs = true;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = book.sums.work_ticks;
        shut_book();
        open_book();
        if (i > 0 && book.sums.work_ticks - before < least)
            least = book.sums.work_ticks - before;
    }
    book.runs = false;
    book.now = (path){0};
    book.sums = (fi_path_sums){.look_ticks = least};
}

void fi_path_begin(uint64_t burden_ticks)
{
    fi_lock_lock(&book.lock);
    make_room(FIRST_ROOM);
    book.burden_ticks = burden_ticks;
    calibrate();
    fi_lock_unlock(&book.lock);
    fi_store_relaxed(&fi_path_on, 1u);
}

void fi_path_read(fi_path_sums *out)
{
    path longest;

    open_book();
    longest = longer(book.longest, book.now);
    *out = book.sums;
    out->span_ticks = longest.ticks;
    out->burdened_ticks = longest.burdened;
    shut_book();
}

void fi_path_end(void)
{
    fi_store_relaxed(&fi_path_on, 0u);
    fi_lock_lock(&book.lock);
    FI_DELETE_ARRAY(page, book.pages, book.room);
    book.pages = NULL;
    book.room = book.used = 0;
    book.now = book.outside = book.longest = (path){0};
    fi_lock_unlock(&book.lock);
}

/* [child of a fork] The entries belong to the parent. */
static void begin_empty(void)
{
    if (fi_path_is_on())
        fi_path_end();
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_SPANS, &book.lock, begin_empty);
}

/* ---- what happens ---- */

static const void *key_of(const fi_runnable *r)
{
    return r->run ? (const void *)r : (const void *)((const char *)r - offsetof(fi_fiber, ready));
}

void fi_path_hand(const fi_runnable *r)
{
    open_book();
    write_longer(key_of(r), taken_elsewhere(*own()));
    shut_book();
}

void fi_path_end_in(const void *what)
{
    open_book();
    write_longer(what, *own());
    shut_book();
}

void fi_path_take_from(const void *what)
{
    path *mine;

    open_book();
    mine = own();
    *mine = longer(*mine, tear_out(what));
    shut_book();
}

void fi_path_meet(const fi_fiber *f)
{
    path *mine;

    open_book();
    mine = own();
    *mine = longer(*mine, f ? read_page(f) : book.outside);
    shut_book();
}

void fi_path_pass(const void *from, const void *to)
{
    open_book();
    write_longer(to, read_page(from));
    shut_book();
}

void fi_path_forget(const void *what)
{
    open_book();
    tear_out(what);
    shut_book();
}

void fi_path_arrive(const fi_fiber *f)
{
    open_book();
    book.now = tear_out(f);
    book.runs = true;
    shut_book();
}

void fi_path_depart(const fi_fiber *f)
{
    open_book();
    page_for(f)->path = book.now;
    book.longest = longer(book.longest, book.now);
    book.runs = false;
    shut_book();
}

void fi_path_begin_work(const fi_runnable *r)
{
    open_book();
    book.now = tear_out(r);
    book.sums.pieces++;
    shut_book();
}

void fi_path_end_work(void)
{
    open_book();
    book.longest = longer(book.longest, book.now);
    book.now = (path){0};
    shut_book();
}

void fi_path_hide(bool is_hidden)
{
    open_book();
    if (is_hidden) {
        book.saved = book.now;
        book.now = (path){0};
    } else {
        book.now = book.saved;
    }
    shut_book();
}

void fi_path_spawned(const void *slot)
{
    open_book();
    page_for(slot)->path = taken_elsewhere(book.now);
    book.sums.spawns++;
    shut_book();
}

/* Who syncs goes on from where it is now, and leaves that in the place of the task's own page. */
void fi_path_begin_task(const void *slot)
{
    path at_sync;

    open_book();
    at_sync = book.now;
    book.now = tear_out(slot);
    page_for(slot)->path = at_sync;
    shut_book();
}

void fi_path_end_task(const void *slot)
{
    open_book();
    book.now = longer(book.now, tear_out(slot));
    shut_book();
}
