/* A caller's mistake ends the program with one line that names it. */
#ifndef FI_BASE_FATAL_H
#define FI_BASE_FATAL_H

_Noreturn void fi_fatal(const char *what);

/* The same, with the name of the public function that was misused. */
_Noreturn void fi_mistake_in(const char *function, const char *what);

#endif
