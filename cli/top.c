/* filch top: workers and fibers of a running process. */
#define _GNU_SOURCE
#include "args.h"
#include "command.h"
#include "top_page.h"
#include "top_print.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum {
    SAMPLES_PER_ROUND = 20,
    INTERVAL_MS_MIN = 100,
    INTERVAL_MS_MAX = 60000,
    ROUNDS_MAX = 1000000,
    WIDE = 160
};

typedef struct top_options {
    pid_t pid; /* 0: list processes */
    int interval_ms;
    long rounds; /* 0: no limit */
} top_options;

static volatile sig_atomic_t is_ended;

static void top_help(void)
{
    printf("usage: filch top [OPTION...] [PID]\n\n"
           "Shows the workers and fibers of a process, and updates the screen until q is pressed "
           "or the\n"
           "process ends.  Start the process with FILCH_TOP=1 in its environment, or set "
           "filch_config.top.\n"
           "The process does no work for this while no filch top runs.  Without PID: lists the "
           "processes that\n"
           "can be shown.\n\n"
           "  -i, --interval MS     time between updates, %d to %d (1000)\n"
           "  -n, --rounds N        stop after N updates\n"
           "      --once            print once, as plain text; the same as -n 1\n"
           "      --help            print this text\n\n"
           "Columns: the state of each worker; the shares of time since the last update that it "
           "was busy,\n"
           "searching and asleep; the lengths of its deque, its run queue of ready fibers and its "
           "inbox;\n"
           "per second: steals, failed steals, parks, sleeps, ended jobs and fibers; and what it "
           "runs.\n",
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
    default:
        top_help();
        exit_ok();
    }
}

static top_options read_args(int argc, char **argv)
{
    static const struct option known[] = {
        {"interval", required_argument, NULL, 'i'},
        {"rounds", required_argument, NULL, 'n'},
        {"once", no_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    top_options o = {.interval_ms = 1000};
    opterr = 0;
    for (int letter; (letter = getopt_long(argc, argv, ":i:n:h", known, NULL)) != -1;) {
        if (letter == '?' || letter == ':')
            option_error(letter, argv);
        top_take_option(&o, letter);
    }
    if (optind + 1 < argc)
        usage_error("top takes one process (got also '%s')", argv[optind + 1]);
    if (optind < argc)
        o.pid = (pid_t)number_arg(argv[optind], "top", 1, INT32_MAX);
    return o;
}

/* ---- the list of processes ---- */

static void name_of(pid_t pid, char *name, size_t capacity)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *in = fopen(path, "r");
    snprintf(name, capacity, "?");
    if (in && fgets(name, (int)capacity, in))
        name[strcspn(name, "\n")] = '\0';
    if (in)
        fclose(in);
}

static int list_all(void)
{
    DIR *d = opendir("/proc");
    int found = 0;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        char name[32];
        if (pid <= 0 || !top_has_page(pid))
            continue;
        name_of(pid, name, sizeof name);
        printf("%s%7d  %s\n", found++ == 0 ? "    PID  program\n" : "", (int)pid, name);
    }
    if (d)
        closedir(d);
    if (found == 0)
        printf("No process can be shown.  Start one with FILCH_TOP=1 in its environment.\n");
    return EXIT_OK;
}

/* ---- the terminal ---- */

static struct termios terminal_before;
static bool is_terminal;

static void leave_terminal(void)
{
    if (!is_terminal)
        return;
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
    printf("\033[?25h\033[?1049l");
    fflush(stdout);
}

/* Alternate screen, no cursor, keys without line buffering. */
static void enter_terminal(void)
{
    struct termios t;
    is_terminal = isatty(STDOUT_FILENO) && tcgetattr(STDIN_FILENO, &terminal_before) == 0;
    if (!is_terminal)
        return;
    t = terminal_before;
    t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &t);
    printf("\033[?1049h\033[?25l");
}

static void on_end(int number)
{
    (void)number;
    is_ended = 1;
}

static void catch_signals(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct sigaction a = {.sa_handler = on_end};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaction(ends[i], &a, NULL);
}

/* Returns: true if q was pressed. */
static bool wait_ms(int ms)
{
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
    char key;
    if (poll(is_terminal ? &keys : NULL, is_terminal ? 1 : 0, ms) <= 0)
        return false;
    if (read(STDIN_FILENO, &key, 1) == 1)
        return key == 'q' || key == 'Q';
    return true;
}

static void size_of_screen(int *width, int *height)
{
    struct winsize w;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 && w.ws_row > 0;
    *width = known ? w.ws_col : WIDE;
    *height = known && is_terminal ? w.ws_row : 0;
}

/* ---- updates ---- */

typedef struct view {
    top_page page;
    filch_top *before;
    top_shares shares[TOP_WORKERS_MAX];
    char program[32];
} view;

static void count_states(view *v)
{
    for (unsigned i = 0; i < v->page.workers; i++) {
        v->shares[i].n_samples++;
        v->shares[i].in[v->page.at->worker[i].state % 3]++;
    }
}

/* Sample the workers often, all fibers once. */
static top_answer sample_interval(view *v, int interval_ms, bool *quits)
{
    memset(v->shares, 0, sizeof v->shares);
    for (int i = 0; i < SAMPLES_PER_ROUND && !is_ended && !*quits; i++) {
        top_answer a =
            top_ask(&v->page, i < SAMPLES_PER_ROUND - 1 ? FILCH_TOP_WORKERS : FILCH_TOP_ALL);
        if (a != TOP_ANSWERED)
            return a;
        count_states(v);
        if (i < SAMPLES_PER_ROUND - 1)
            *quits = wait_ms(interval_ms / (SAMPLES_PER_ROUND - 1));
    }
    return TOP_ANSWERED;
}

static void view_print(view *v, bool is_first)
{
    int width, height;
    size_of_screen(&width, &height);
    if (is_terminal)
        printf("\033[H\033[2J");
    else if (!is_first)
        printf("\n");
    top_print(stdout, v->before, v->page.at, v->shares, v->program, width, height);
    printf(is_terminal ? "" : "\n");
    fflush(stdout);
}

static top_answer print_rounds(view *v, const top_options *o)
{
    bool quits = false;
    top_answer a = top_ask(&v->page, FILCH_TOP_ALL);
    for (long round = 0; a == TOP_ANSWERED && !is_ended && !quits && !ferror(stdout); round++) {
        if (o->rounds > 0 && round == o->rounds)
            break;
        memcpy(v->before, v->page.at, v->page.size);
        a = sample_interval(v, o->interval_ms, &quits);
        if (a == TOP_ANSWERED && !is_ended && !quits)
            view_print(v, round == 0);
    }
    return a;
}

static int report_answer(top_answer a, pid_t pid)
{
    if (a == TOP_SILENT)
        fprintf(stderr, "filch: process %d does not answer; it may be suspended\n", (int)pid);
    else if (a == TOP_OVER)
        printf("process %d ended or stopped its runtime\n", (int)pid);
    return a == TOP_SILENT ? EXIT_FAILED : EXIT_OK;
}

static int top_show(const top_options *o)
{
    static view v;
    const char *why = top_open(&v.page, o->pid);
    if (why) {
        fprintf(stderr, "filch: process %d: %s\n", (int)o->pid, why);
        return EXIT_FAILED;
    }
    v.before = malloc(v.page.size);
    if (!v.before)
        usage_error("out of memory");
    name_of(o->pid, v.program, sizeof v.program);
    catch_signals();
    enter_terminal();
    top_answer a = print_rounds(&v, o);
    leave_terminal();
    top_close(&v.page);
    free(v.before);
    return report_answer(a, o->pid);
}

int command_top(int argc, char **argv)
{
    top_options o = read_args(argc, argv);
    return o.pid == 0 ? list_all() : top_show(&o);
}
