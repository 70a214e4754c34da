/* A saved point of execution on a stack of its own, and the switch between two of them.
 * (Interface draft: see the room's owner.) */
#ifndef FI_CTX_CTX_H
#define FI_CTX_CTX_H
#include <stddef.h>
#endif
