/* filch top --ranks: find the program, and show its table of ranks. */
#define _GNU_SOURCE
#include "ranks.h"

#include "args.h"
#include "ranks_find.h"
#include "ranks_print.h"
#include "remote.h"
#include "safe_text.h"
#include "top_terminal.h"

#include <errno.h>
#include <stdio.h>

/* ---- the program ---- */

static void print_programs(const ranks_programs *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        char name[32];
        remote_program(p->pids[i], name, sizeof name);
        printf("%s%7d  ", i == 0 ? "    PID  program\n" : "", (int)p->pids[i]);
        print_safe_text(stdout, name, (int)sizeof name);
        printf("\n");
    }
}

/* The only program; 0, after a message: there is none, or there are several. */
static pid_t only_program(void)
{
    static ranks_programs all;
    ranks_find_all(&all);
    if (all.n == 1)
        return all.pids[0];
    print_programs(&all);
    if (all.n > 1)
        fprintf(stderr, "filch: top --ranks: %u programs have ranks; give the PID of one\n", all.n);
    else
        fprintf(stderr, "filch: top --ranks: no program with ranks was found on this machine\n");
    if (all.n == 0 && all.n_denied > 0)
        fprintf(stderr, "filch: number of processes that filch may not read: %u\n", all.n_denied);
    return 0;
}

/* Open the table of the process, or of the program that it belongs to. */
static int open_table(ranks_table *t, pid_t pid)
{
    int e = ranks_table_open(t, pid);
    pid_t related = e == -ENODATA ? ranks_find_related(pid) : 0;
    if (related != 0)
        e = ranks_table_open(t, related);
    if (e < 0)
        fprintf(stderr, "filch: process %d: %s\n", (int)pid, ranks_table_error(pid, e));
    return e;
}

/* ---- updates ---- */

static void print_update(const ranks_view *v, pid_t pid, const char *program, bool is_first)
{
    int width, height;
    terminal_begin_update(is_first, &width, &height);
    ranks_print(stdout, v, pid, program, width, height);
    terminal_end_update();
}

/* False: the table is gone. */
static bool view_update(ranks_view *v, const ranks_table *t)
{
    bool is_there = ranks_table_read(t, &v->now);
    if (is_there)
        ranks_view_update(v);
    return is_there;
}

/* False: the table is gone. */
static bool print_rounds(const ranks_table *t, int interval_ms, long rounds)
{
    static ranks_view v;
    char program[32];
    bool is_there = view_update(&v, t);
    remote_program(t->pid, program, sizeof program);
    for (long round = 0; is_there && (rounds == 0 || round < rounds); round++) {
        bool quits = terminal_wait(interval_ms);
        if (quits || terminal_is_ended() || ferror(stdout))
            break;
        is_there = view_update(&v, t);
        if (is_there)
            print_update(&v, t->pid, program, round == 0);
    }
    return is_there;
}

int ranks_show(pid_t pid, int interval_ms, long rounds)
{
    ranks_table t;
    if (pid == 0)
        pid = only_program();
    if (pid == 0 || open_table(&t, pid) < 0)
        return EXIT_FAILED;
    terminal_enter();
    bool is_there = print_rounds(&t, interval_ms, rounds);
    terminal_leave();
    if (!is_there)
        printf("process %d ended or stopped its cluster\n", (int)t.pid);
    ranks_table_close(&t);
    return EXIT_OK;
}
