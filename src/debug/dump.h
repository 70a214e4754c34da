/* What all fibers do, for people. */
#ifndef FI_DEBUG_DUMP_H
#define FI_DEBUG_DUMP_H

#include "sched/worker.h"

/* [any] Write it.  0 or -errno.  Fibers go on meanwhile, but for the moment in which one is looked at. */
int fi_dump(fi_runtime *rt, int fd);

/* [any] What the fiber is called, cut to fit.  It may run, and be called something else by now. */
void fi_dump_name(const fi_fiber *f, char *name, size_t size);

/* [who has frozen it] Where the fiber is, the innermost first; how many.  frames.c */
unsigned fi_frames_of(const fi_fiber *f, const void **at, unsigned most);

/* [any] Is this a function inside Filch that no program can call?  Only a shared library tells. */
bool fi_frame_is_inside(const void *at);

/* [any] A place in the program, in words, as far as they are known: function+offset (file), or file+offset. */
void fi_frame_name(const void *at, char *text, size_t size);

/* [any] What a function is called that begins there.  Its file is asked, too, which takes longer. */
void fi_function_name(const void *at, char *text, size_t size);

#endif
