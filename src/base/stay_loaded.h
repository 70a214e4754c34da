/* Keeps our code in memory.
 *
 * A library that contains Filch may be closed with dlclose while the runtime runs.  Its workers would go on in code that is not
 * there any more. */
#ifndef FI_BASE_STAY_LOADED_H
#define FI_BASE_STAY_LOADED_H

/* [any, without a lock: another thread may hold that of the loader and wait for ours] The shared object that contains this function is
 * not unloaded any more, whoever closes it.  In a program without shared libraries there is nothing to do. */
void fi_stay_loaded(void);

#endif
