/* One kind of element.  Who includes this says what SIZE is. */
#include "algo/kind.h"

#include <string.h>

/* Any address will do, and it may be part of whatever the user has there. */
typedef struct element {
    unsigned char bytes[SIZE];
} __attribute__((may_alias)) element;

/* Copies that the user's function gets to see are aligned as the user's type may be. */
#define ALIGNED _Alignas(SIZE & -SIZE)
