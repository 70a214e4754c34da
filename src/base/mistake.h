/* A caller's mistake ends the program with one line that names it. */
#ifndef FI_BASE_MISTAKE_H
#define FI_BASE_MISTAKE_H

_Noreturn void fi_mistake(const char *what);

#endif
