/* A made-up file tree in a temporary directory, to stand for a machine's /proc and /sys. */
#ifndef TESTS_UNIT_BASE_TREE_H
#define TESTS_UNIT_BASE_TREE_H

typedef struct tree {
    char root[64];
} tree;

/* All of these end the test when the machine does not let them. */
void tree_init(tree *t);
void tree_fini(tree *t);

/* Write a file, with the directories it needs; path begins with a slash. */
void tree_put(const tree *t, const char *path, const char *content);

/* Make a directory, with those above it. */
void tree_dir(const tree *t, const char *path);

#endif
