/* The screen of `filch top`, and the signals and keys that end it. */
#define _GNU_SOURCE
#include "top_terminal.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { WIDE = 1000 }; /* of a pipe or a file: lines are not cut */

static volatile sig_atomic_t is_ended, is_suspending, is_continued;
static struct termios terminal_before;
static bool is_terminal;

void terminal_leave(void)
{
    if (!is_terminal)
        return;
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
    printf("\033[?25h\033[?1049l");
    fflush(stdout);
}

/* Alternate screen, no cursor, keys without line buffering. */
static void show_screen(void)
{
    struct termios t = terminal_before;
    t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &t);
    printf("\033[?1049h\033[?25l");
    fflush(stdout);
}

static void on_signal(int number)
{
    if (number == SIGTSTP)
        is_suspending = 1;
    else if (number == SIGCONT)
        is_continued = 1;
    else
        is_ended = 1;
}

static void catch_signal(int number)
{
    struct sigaction a = {.sa_handler = on_signal}, before;
    sigaction(number, NULL, &before);
    if (before.sa_handler != SIG_IGN)
        sigaction(number, &a, NULL);
}

/* SIGPIPE is not caught: it ends the output to a pipe without a message. */
static void catch_signals(void)
{
    static const int all[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        catch_signal(all[i]);
}

void terminal_enter(void)
{
    catch_signals();
    is_terminal = isatty(STDOUT_FILENO) && tcgetattr(STDIN_FILENO, &terminal_before) == 0;
    if (is_terminal)
        show_screen();
}

bool terminal_is_ended(void)
{
    return is_ended;
}

/* Stop as by default, with the normal screen. */
static void suspend(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    is_suspending = 0;
    terminal_leave();
    sigaction(SIGTSTP, &usual, NULL);
    raise(SIGTSTP);
    catch_signal(SIGTSTP);
    is_continued = 1;
}

static void follow_signals(void)
{
    if (is_suspending)
        suspend();
    if (is_continued && is_terminal)
        show_screen();
    is_continued = 0;
}

bool terminal_wait(int ms)
{
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
    char key;
    int n = poll(is_terminal ? &keys : NULL, is_terminal ? 1 : 0, ms);
    follow_signals();
    if (n <= 0)
        return false;
    if (read(STDIN_FILENO, &key, 1) == 1)
        return key == 'q' || key == 'Q';
    return true;
}

bool terminal_is_interrupted(void)
{
    if (terminal_wait(0))
        is_ended = 1;
    return is_ended;
}

static void size_of_screen(int *width, int *height)
{
    struct winsize w;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 && w.ws_row > 0;
    *width = known ? w.ws_col : WIDE;
    *height = known && is_terminal ? w.ws_row : 0;
}

void terminal_begin_update(bool is_first, int *width, int *height)
{
    size_of_screen(width, height);
    if (is_terminal)
        printf("\033[H\033[2J");
    else if (!is_first)
        printf("\n");
}

void terminal_end_update(void)
{
    printf(is_terminal ? "" : "\n");
    fflush(stdout);
}
