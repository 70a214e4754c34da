/* Keeps the library loaded.
 *
 * A library that contains Filch may be closed with dlclose while the runtime runs.  Its workers
 * would then run code that was unmapped. */
#ifndef FI_BASE_STAY_LOADED_H
#define FI_BASE_STAY_LOADED_H

/* [any, without a lock: another thread may hold the loader's lock and wait for ours] Keep the
 * shared object that contains this function loaded, even after dlclose.  Does nothing in a
 * static program. */
void fi_stay_loaded(void);

#endif
