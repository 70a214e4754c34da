/* Fiber-local storage: what each fiber, or thread, keeps under a number. */
#ifndef FI_FIBER_FLS_H
#define FI_FIBER_FLS_H

typedef struct fi_fls fi_fls;

/* [its fiber or thread, at the end] Destroy what there is. */
void fi_fls_end(fi_fls *l);

#endif
