/* Search /proc for tables of ranks. */
#define _GNU_SOURCE
#include "ranks_find.h"

#include "ranks_table.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANCESTORS_MAX = 64 };

/* A child of fork() inherits the descriptor.  Of several processes with the same table, the one
 * that the table names is used, or else the first: in a container, rank 0 has another number. */
static void add_program(ranks_programs *p, const ranks_table *t)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->inodes[i] == t->inode) {
            if (t->head.pid == (uint32_t)t->pid)
                p->pids[i] = t->pid;
            return;
        }
    if (p->n < RANKS_PROGRAMS_MAX) {
        p->pids[p->n] = t->pid;
        p->inodes[p->n++] = t->inode;
    }
}

static void add_process(ranks_programs *p, pid_t pid)
{
    ranks_table t;
    int e = ranks_table_open(&t, pid);
    p->n_denied += e == -EACCES || e == -EPERM;
    if (e < 0)
        return;
    add_program(p, &t);
    ranks_table_close(&t);
}

void ranks_find_all(ranks_programs *p)
{
    DIR *d = opendir("/proc");
    *p = (ranks_programs){0};
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid > 0)
            add_process(p, pid);
    }
    if (d)
        closedir(d);
}

/* ---- related processes ---- */

/* 0: unknown.  The name of the program is in parentheses, and may contain any character. */
static pid_t parent_of(pid_t pid)
{
    char path[32], text[256];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *in = fopen(path, "re");
    size_t n = in ? fread(text, 1, sizeof text - 1, in) : 0;
    text[n] = '\0';
    const char *after = strrchr(text, ')');
    if (!after || sscanf(after, ") %*c %d", &parent) != 1)
        parent = 0;
    if (in)
        fclose(in);
    return parent;
}

static bool is_ancestor(pid_t ancestor, pid_t of)
{
    for (int i = 0; of > 1 && i < ANCESTORS_MAX; i++) {
        of = parent_of(of);
        if (of == ancestor)
            return true;
    }
    return false;
}

/* Process numbers of other hosts mean other processes. */
static bool has_row(const ranks_snapshot *s, pid_t pid)
{
    for (uint32_t i = 0; i < s->head.rows; i++)
        if (s->rows[i].heard_ns != 0 && s->rows[i].pid == (uint32_t)pid &&
            strcmp(s->rows[i].host, s->rows[0].host) == 0)
            return true;
    return false;
}

static bool is_rank_of(pid_t pid, pid_t program)
{
    static ranks_snapshot s;
    ranks_table t;
    if (ranks_table_open(&t, program) < 0)
        return false;
    bool found = ranks_table_read(&t, &s) && has_row(&s, pid);
    ranks_table_close(&t);
    return found;
}

pid_t ranks_find_related(pid_t pid)
{
    static ranks_programs all;
    ranks_find_all(&all);
    for (unsigned i = 0; i < all.n; i++)
        if (is_ancestor(pid, all.pids[i]) || is_rank_of(pid, all.pids[i]))
            return all.pids[i];
    return 0;
}
