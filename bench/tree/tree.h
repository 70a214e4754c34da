/* A tree of three levels below its root, every inner node with as many children. */
#ifndef BENCH_TREE_H
#define BENCH_TREE_H

enum { TREE_DEPTH = 3, TREE_CHILDREN_MAX = 1000 };

/* What is done at a node: nothing, but the compiler does not know that.  Otherwise it would count
 * the children by a multiplication instead of visiting them. */
static inline void tree_touch(void)
{
    __asm__ volatile("");
}

#endif
