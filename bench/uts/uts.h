/* An implicit tree: the number of a node's children follows from a hash of its path. */
#ifndef BENCH_UTS_H
#define BENCH_UTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { UTS_CHILDREN_MAX = 2000 }; /* of the root; other nodes have at most 100 */

typedef struct uts_node {
    uint32_t state[5]; /* SHA-1 of the parent's state and of the child's number */
    int depth;
} uts_node;

uts_node uts_root(void);
uts_node uts_child(const uts_node *parent, int number);
int uts_children(const uts_node *node);

#ifdef __cplusplus
}
#endif

#endif
