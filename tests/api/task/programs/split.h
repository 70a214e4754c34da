/* Two tasks that call each other, in two files, each compiled as C or C++. */
#ifndef SPLIT_H
#define SPLIT_H

#include <filch/task.h>

typedef struct pair {
    long even, odd;
} pair;

FILCH_TASK_DECL(pair, left, int, n, pair, so_far);
FILCH_TASK_DECL(pair, right, int, n, pair, so_far);
FILCH_VOID_TASK_DECL(note, long *, where, long, what);
FILCH_TASK_DECL(int, answer);

#endif
