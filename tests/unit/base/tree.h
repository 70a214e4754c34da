/* A file tree in a temporary directory that stands for /proc and /sys. */
#ifndef TESTS_UNIT_BASE_TREE_H
#define TESTS_UNIT_BASE_TREE_H

typedef struct tree {
    char root[64];
} tree;

/* These end the test if a system call fails. */
void tree_init(tree *t);
void tree_fini(tree *t);

/* Write a file and make the directories above it.  The path begins with a slash. */
void tree_put(const tree *t, const char *path, const char *content);

/* Make a directory and those above it. */
void tree_dir(const tree *t, const char *path);

#endif
