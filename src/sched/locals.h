/* Fiber-local storage: what each fiber, or thread, keeps under a number. */
#ifndef FI_SCHED_LOCALS_H
#define FI_SCHED_LOCALS_H

typedef struct fi_locals fi_locals;

/* [its fiber or thread, at the end] Destroy what there is. */
void fi_locals_end(fi_locals *l);

#endif
