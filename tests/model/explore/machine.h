/* Between the machine (memory) and the search (choices and threads). */
#ifndef EXPLORE_MACHINE_H
#define EXPLORE_MACHINE_H

#include "explore/explore.h"

/* the machine: memory.h says in which file */
void machine_begin(const check *c); /* once per check */
void machine_reset(void);           /* once per execution */
void machine_forget(int thread);    /* late loads whose value is never used */
uint64_t machine_hash(uint64_t (*thread_state)(int thread), int threads);
uint64_t machine_mix(uint64_t h, uint64_t v); /* a hash of a sequence, one value at a time */
void machine_join(int thread, int threads);
void machine_keep(void);
void machine_copy(void (*copy)(void *p, size_t n)); /* all of its state */
bool machine_can_flush(int thread);
void machine_flush(int thread);
void machine_is_lock(const void *p); /* states that differ in its old values are equal */
void machine_enter_kernel(void);
uint64_t machine_newest(const void *p);
bool machine_allocated(uint64_t value); /* is it a pointer to what the check allocated? */

/* the search: execution.h says in which file */
int search_self(void);
bool search_in_setup(void);
bool search_ended(int thread);
uint32_t search_choose(uint32_t options);
void search_read(uint64_t value);             /* the running thread learnt this */
void search_point_before(bool needs_drained); /* tso: others may go before this access */
void search_point_after(void);                /* rc11, imm: others may go after this access */
void search_operation(void);
void search_stale(void);                  /* what the running thread reads is not the newest */
void search_await_zero(const void *word); /* others go until *word is 0 and this thread is chosen */
void search_unlocks(void);                /* the running thread is about to unlock */
void search_restart(void);                /* forget all that was explored and begin again */

/* trace.c */
#define NO_VALUE (UINT64_MAX - 1) /* of an operation that has none */
extern bool tracing;
void trace_start(const check *c, FILE *to);
void trace_operation(const char *what, const char *where, uint64_t value, const site *s,
                     const char *remark);
void trace_note(const char *text);
void trace_flush(int thread, const char *where, uint64_t value);

const char *value_text(uint64_t value);

#endif
