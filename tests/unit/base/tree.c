#define _GNU_SOURCE
#include "unit/base/tree.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void must(int ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    exit(1);
}

void tree_init(tree *t)
{
    const char *tmp = getenv("TMPDIR");
    int n = snprintf(t->root, sizeof t->root, "%s/filch-tree-XXXXXX", tmp ? tmp : "/tmp");

    if (n < 0 || (size_t)n >= sizeof t->root)
        snprintf(t->root, sizeof t->root, "/tmp/filch-tree-XXXXXX");
    must(mkdtemp(t->root) != NULL, t->root);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

void tree_fini(tree *t)
{
    must(nftw(t->root, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0, t->root);
}

/* Make all directories of the path up to its last slash. */
static void make_above(char *path)
{
    for (char *p = path + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        must(mkdir(path, 0755) == 0 || errno == EEXIST, path);
        *p = '/';
    }
}

static void full_path(const tree *t, const char *path, const char *end, char *full)
{
    int n = snprintf(full, PATH_MAX, "%s%s%s", t->root, path, end);

    must(n > 0 && n < PATH_MAX, "path too long");
}

void tree_dir(const tree *t, const char *path)
{
    char full[PATH_MAX];

    full_path(t, path, "/", full);
    make_above(full);
}

void tree_put(const tree *t, const char *path, const char *content)
{
    char full[PATH_MAX];

    full_path(t, path, "", full);
    make_above(full);
    FILE *f = fopen(full, "we");
    must(f != NULL, full);
    fputs(content, f);
    must(fclose(f) == 0, full);
}
