/* A tree of three levels below its root.  All inner nodes have the same number of children. */
#ifndef BENCH_TREE_H
#define BENCH_TREE_H

enum { TREE_DEPTH = 3, TREE_CHILDREN_MAX = 1000 };

/* The work of a node: nothing.  The asm keeps the compiler from replacing the visits by a
 * multiplication. */
static inline void tree_touch(void)
{
    __asm__ volatile("");
}

#endif
