/* filch top: workers and fibers of a running process. */
#define _GNU_SOURCE
#include "args.h"
#include "command.h"
#include "ranks.h"
#include "remote.h"
#include "safe_text.h"
#include "top_print.h"
#include "top_terminal.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SAMPLES_PER_ROUND = 20,
    INTERVAL_MS_MIN = 100,
    INTERVAL_MS_MAX = 60000,
    ROUNDS_MAX = 1000000
};

typedef struct top_options {
    pid_t pid; /* 0: list processes, or with ranks: the only one */
    bool ranks;
    int interval_ms;
    long rounds; /* 0: no limit */
} top_options;

static void top_help(void)
{
    printf(
        "usage: filch top [OPTION...] [PID]\n\n"
        "Shows the workers and fibers of a process, and updates the screen until q is pressed "
        "or the\n"
        "process ends.  The process needs no setting and does no work for this: filch reads "
        "its memory.\n"
        "Without PID: lists the processes that use Filch.\n\n"
        "      --ranks           show the ranks of a program on several processes (filch-mpi); "
        "PID is any\n"
        "                        of its processes on the node of rank 0, or its launcher; needed "
        "only if\n"
        "                        several such programs run\n"
        "  -i, --interval MS     time between updates, %d to %d (1000)\n"
        "  -n, --rounds N        stop after N updates\n"
        "      --once            print once, as plain text; the same as -n 1\n"
        "  -h, --help            print this text\n"
        "  -V, --version         print the version\n\n"
        "Columns: the state of each worker; the shares of time since the last update that it "
        "was busy,\n"
        "searching and asleep; the lengths of its deque, its run queue of ready fibers and its "
        "inbox;\n"
        "per second: steals, failed steals, parks, sleeps, ended jobs and fibers; and what it "
        "runs.\n"
        "Columns with --ranks: workers; parts of work in progress; items, loots and bytes from "
        "and to other\n"
        "ranks, and questions for work, per second; the share of time without enough work; the "
        "time since\n"
        "rank 0 heard of the rank.\n",
        INTERVAL_MS_MIN, INTERVAL_MS_MAX);
}

static void top_take_option(top_options *o, int letter)
{
    switch (letter) {
    case 'i':
        o->interval_ms = (int)number_arg(optarg, "--interval", INTERVAL_MS_MIN, INTERVAL_MS_MAX);
        break;
    case 'n':
        o->rounds = number_arg(optarg, "--rounds", 1, ROUNDS_MAX);
        break;
    case 'o':
        o->rounds = 1;
        break;
    case 'r':
        o->ranks = true;
        break;
    }
}

static top_options read_args(int argc, char **argv)
{
    static const struct option known[] = {
        {"interval", required_argument, NULL, 'i'},
        {"rounds", required_argument, NULL, 'n'},
        {"once", no_argument, NULL, 'o'},
        {"ranks", no_argument, NULL, 'r'},
        COMMON_OPTIONS,
    };
    top_options o = {.interval_ms = 1000};
    for (int letter; (letter = next_option(argc, argv, ":i:n:hV", known, top_help)) != -1;)
        top_take_option(&o, letter);
    if (optind + 1 < argc)
        usage_error("top takes one process (got also '%s')", argv[optind + 1]);
    if (optind < argc)
        o.pid = (pid_t)number_arg(argv[optind], "top", 1, INT32_MAX);
    return o;
}

/* ---- the list of processes ---- */

static void print_process(pid_t pid, bool is_first)
{
    char name[32];
    remote_program(pid, name, sizeof name);
    printf("%s%7d  ", is_first ? "    PID  program\n" : "", (int)pid);
    print_safe_text(stdout, name, (int)sizeof name);
    printf("\n");
}

static int list_all(void)
{
    DIR *d = opendir("/proc");
    int found = 0, denied = 0;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        int uses = pid > 0 && pid != getpid() ? remote_uses_filch(pid) : 0;
        denied += uses == -EPERM || uses == -EACCES;
        if (uses > 0)
            print_process(pid, found++ == 0);
    }
    if (d)
        closedir(d);
    if (found == 0)
        printf("No process that uses Filch was found.\n");
    if (denied > 0)
        fprintf(stderr, "filch: number of processes that filch may not read: %d\n", denied);
    return EXIT_OK;
}

/* ---- updates ---- */

typedef struct view {
    remote process;
    top_snapshot now, before;
    top_shares shares[REMOTE_WORKERS_MAX];
    char program[32];
} view;

static void count_states(view *v)
{
    for (unsigned i = 0; i < v->now.n_workers; i++) {
        v->shares[i].n_samples++;
        v->shares[i].in[v->now.worker[i].state]++;
    }
}

/* Sample the workers often, all fibers once.  False: the runtime is gone. */
static bool sample_interval(view *v, int interval_ms, bool *quits)
{
    memset(v->shares, 0, sizeof v->shares);
    for (int i = 0; i < SAMPLES_PER_ROUND && !terminal_is_ended() && !*quits; i++) {
        bool is_last = i == SAMPLES_PER_ROUND - 1;
        if (!(is_last ? top_read_all : top_read_workers)(&v->process, &v->now))
            return false;
        count_states(v);
        if (!is_last)
            *quits = terminal_wait(interval_ms / (SAMPLES_PER_ROUND - 1));
    }
    return true;
}

static void view_print(view *v, bool is_first)
{
    int width, height;
    terminal_begin_update(is_first, &width, &height);
    top_print(stdout, &v->before, &v->now, v->shares, v->program, width, height);
    terminal_end_update();
}

/* False: the runtime is gone. */
static bool print_rounds(view *v, const top_options *o)
{
    bool quits = false, is_there = top_read_all(&v->process, &v->now);
    for (long round = 0; is_there && !terminal_is_ended() && !quits && !ferror(stdout); round++) {
        if (o->rounds > 0 && round == o->rounds)
            break;
        v->before = v->now;
        is_there = sample_interval(v, o->interval_ms, &quits);
        if (is_there && !terminal_is_ended() && !quits)
            view_print(v, round == 0);
    }
    return is_there;
}

static int top_show(const top_options *o)
{
    static view v;
    const char *why = remote_open(&v.process, o->pid);
    if (why) {
        fprintf(stderr, "filch: process %d: %s\n", (int)o->pid, why);
        return EXIT_FAILED;
    }
    remote_program(o->pid, v.program, sizeof v.program);
    v.process.is_interrupted = terminal_is_interrupted;
    terminal_enter();
    bool is_there = print_rounds(&v, o);
    terminal_leave();
    remote_close(&v.process);
    if (!is_there)
        printf("process %d ended or stopped its runtime\n", (int)o->pid);
    return EXIT_OK;
}

int command_top(int argc, char **argv)
{
    top_options o = read_args(argc, argv);
    if (o.ranks)
        return ranks_show(o.pid, o.interval_ms, o.rounds);
    return o.pid == 0 ? list_all() : top_show(&o);
}
