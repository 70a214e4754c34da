/* Fiber-local storage: values of a fiber, or of a thread, by key. */
#ifndef FI_FIBER_FLS_H
#define FI_FIBER_FLS_H

typedef struct fi_fls fi_fls;

/* [its fiber or thread, at its end] Call the destructors, then free the storage. */
void fi_fls_end(fi_fls *l);

#endif
