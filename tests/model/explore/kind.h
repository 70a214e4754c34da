/* The frame of the checks.
 *
 * A kind is the check of one part of the source: what its threads do, what must hold in every
 * execution, the small programs that are explored, and the mutants that must be caught.  A file
 * NAME_check.c defines each kind and holds nothing else.  kinds.c lists them.
 */
#ifndef EXPLORE_KIND_H
#define EXPLORE_KIND_H

#include "explore/explore.h"

enum { MAX_THIEVES = 3, MAX_NAMES = 4 };

/* A program of an owner (thread 0) and its thieves.  Each operation is a letter. */
typedef struct program {
    uint32_t capacity, batch; /* of a deque; other kinds say what they mean */
    const char *owner;
    const char *thieves[MAX_THIEVES];
} program;

/* A weakened source, and the verdict in each mode: OK means that no program shows a fault there. */
typedef struct mutant {
    const char *what;
    weakening weaken[2];
    verdict expected[MODES];
    const char *why_kept; /* for a mutant that no mode catches */
} mutant;

#define WEAKER(text, label, order, rc11, imm, tso)                                                 \
    {                                                                                              \
        .what = (text), .weaken = {{(label), (order)}}, .expected = { rc11, imm, tso }             \
    }
#define FAULT(text, label, rc11, imm, tso) WEAKER(text, label, ORDER_NONE, rc11, imm, tso)

/* One operation of one thread. */
typedef struct operation {
    char letter;
    int thread;
    int index;         /* the first is 0 */
    uint64_t position; /* for x_forget; the next 255 numbers are free for points inside it */
} operation;

typedef struct kind {
    const char *name;
    const char *owner, *thief; /* the letters that they may have */
    const program *programs;   /* smallest first; ended by a NULL owner */
    const program
        *large_programs;   /* too large to be explored to their end on other machines than tso */
    const mutant *mutants; /* ended by a NULL text */
    const char *threads[MAX_NAMES]; /* their names */
    const char *data[MAX_NAMES]; /* names of the plain data; the last stands for all that follow */
    bool items;                  /* the check has items; else imm is rc11 */
    bool races;                  /* look for data races always */
    bool also_races;             /* look for them separately, as clocks multiply the states */
    bool exchangeable;           /* thieves in the same place are alike: count them once */

    void (*setup)(void);
    void (*operate)(const operation *op);
    void (*run)(int thread); /* all operations of a thread; NULL: call operate for each */
    void (*at_end)(void);    /* in thread 0, when all others have ended */

    /* As in a check; NULL if not needed. */
    uint64_t (*summary)(void);
    const char *(*at_rest)(void);
    void (*before_unlock)(int thread);
    const char *(*value_name)(uint64_t value);
    void (*adjust)(check *c); /* what depends on the program */
} kind;

/* Ended by NULL. */
extern const kind *const kinds[];

/* Prepare *c, except for its mode and weakenings.  The program is kept by reference. */
void kind_prepare(check *c, const kind *k, const program *p);

/* ---- for the checks ---- */

#define NUMBERED(name)                                                                             \
    {                                                                                              \
        name " 0", name " 1", name " 2", name " 3"                                                 \
    }
#define OWNER_AND(owner, name)                                                                     \
    {                                                                                              \
        owner, name " 1", name " 2", name " 3"                                                     \
    }

extern const kind *kind_now;
extern const program *program_now;

int program_threads(void);
const char *program_ops(int thread);
bool thread_has(int thread, const char *letters); /* one of them */
bool program_has(const char *letters);
/* The number of operations with one of the letters before operation `index` of the thread, those of
 * earlier threads included. */
int program_count(const char *letters, int thread, int index);

#endif
