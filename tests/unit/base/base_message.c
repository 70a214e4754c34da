/* Messages: the default, a handler, its replacement, long lines, reports of several lines, and that
 * errno stays as it is. */
#include "base/fatal.h"
#include "base/message.h"
#include "check.h"
#include "child.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct received {
    int n;
    filch_level level;
    char text[2048]; /* each line, then a newline */
} received;

static void receive(filch_level level, const char *text, void *ctx)
{
    received *r = ctx;

    r->n++;
    r->level = level;
    snprintf(r->text + strlen(r->text), sizeof r->text - strlen(r->text), "%s\n", text);
    errno = ENOTTY;
}

/* Run send with stderr in a file.  Returns what was written. */
static const char *stderr_of(void (*send)(void))
{
    static char text[4096];
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    size_t n;

    CHECK(file && saved >= 0);
    dup2(fileno(file), STDERR_FILENO);
    send();
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

static void send_line(void)
{
    fi_message(FILCH_LEVEL_WARNING, "%s has %d", "a worker", 7);
}

static void send_long_line(void)
{
    char word[3000];

    memset(word, 'x', sizeof word);
    word[sizeof word - 1] = '\0';
    fi_message(FILCH_LEVEL_INFO, "%s", word);
}

static void send_report(void)
{
    char text[] = "filch: first\n\n  second\n";

    fi_message_lines(FILCH_LEVEL_INFO, text, sizeof text - 1);
}

static void send_control_characters(void)
{
    fi_message(FILCH_LEVEL_INFO, "%s", "a\nb\033[2Jc\x7f\td\xc3\xa9");
}

static void test_default(void **state)
{
    const char *text;

    (void)state;
    CHECK(strcmp(stderr_of(send_line), "filch: a worker has 7\n") == 0);
    CHECK(strcmp(stderr_of(send_report), "filch: first\n\n  second\n") == 0);
    CHECK(strcmp(stderr_of(send_control_characters), "filch: a?b?[2Jc??d\xc3\xa9\n") == 0);
    text = stderr_of(send_long_line);
    CHECK(strlen(text) > 900 && strlen(text) <= 1024);
    CHECK(strncmp(text, "filch: xxx", 10) == 0 && strchr(text, '\n') == text + strlen(text) - 1);
}

static void test_handler(void **state)
{
    received first = {0}, second = {0};

    (void)state;
    filch_set_message_handler(receive, &first);
    CHECK(strcmp(stderr_of(send_line), "") == 0);
    CHECK(first.n == 1 && first.level == FILCH_LEVEL_WARNING);
    CHECK(strcmp(first.text, "a worker has 7\n") == 0);
    filch_set_message_handler(receive, &second);
    send_report();
    CHECK(first.n == 1 && second.n == 2 && second.level == FILCH_LEVEL_INFO);
    CHECK(strcmp(second.text, "first\n  second\n") == 0);
    send_control_characters();
    CHECK(strcmp(second.text, "first\n  second\na?b?[2Jc??d\xc3\xa9\n") == 0);
    filch_set_message_handler(NULL, NULL);
    CHECK(strcmp(stderr_of(send_line), "filch: a worker has 7\n") == 0);
    CHECK(first.n == 1 && second.n == 3);
}

static void test_errno(void **state)
{
    received r = {0};

    (void)state;
    filch_set_message_handler(receive, &r);
    errno = EXDEV;
    CHECK_INT(fi_message_invalid("no"), -EINVAL);
    CHECK_INT(errno, EXDEV);
    CHECK(r.level == FILCH_LEVEL_ERROR);
    CHECK_INT(fi_message_null("filch_sort", "base", "the elements"), -EINVAL);
    CHECK(strcmp(r.text, "no\nfilch_sort: base is NULL; pass the elements\n") == 0);
    send_report();
    CHECK_INT(errno, EXDEV);
    filch_set_message_handler(NULL, NULL);
}

/* ---- several threads ---- */

typedef struct pair_check {
    void *ctx; /* what the handler must get */
    atomic_int *wrong;
} pair_check;

static pair_check pairs[2];

static void receive_even(filch_level level, const char *text, void *ctx)
{
    (void)level, (void)text;
    if (ctx != &pairs[0])
        atomic_store(pairs[0].wrong, 1);
}

static void receive_odd(filch_level level, const char *text, void *ctx)
{
    (void)level, (void)text;
    if (ctx != &pairs[1])
        atomic_store(pairs[0].wrong, 1);
}

static void *send_many(void *arg)
{
    for (int i = 0; i < 2000; i++)
        send_line();
    return arg;
}

/* A handler never gets the ctx of another. */
static void test_threads(void **state)
{
    static atomic_int wrong;
    pthread_t threads[3];

    (void)state;
    pairs[0].wrong = &wrong;
    filch_set_message_handler(receive_even, &pairs[0]);
    for (int i = 0; i < 3; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, send_many, NULL), 0);
    for (int i = 0; i < 2000; i++)
        filch_set_message_handler(i % 2 ? receive_odd : receive_even, &pairs[i % 2]);
    for (int i = 0; i < 3; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    CHECK_INT(atomic_load(&wrong), 0);
    filch_set_message_handler(NULL, NULL);
}

/* ---- the end of the program ---- */

static void write_fatal(filch_level level, const char *text, void *ctx)
{
    (void)ctx;
    dprintf(STDERR_FILENO, "level %d: %s\n", (int)level, text);
}

static void fail_with_handler(void *arg)
{
    filch_set_message_handler(write_fatal, arg);
    fi_fatal("%d is wrong", 5);
}

static void test_fatal(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, fail_with_handler, NULL), 0);
    CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT);
    CHECK(strcmp(end.text, "level 3: 5 is wrong\n") == 0);
}

CHECK_MAIN(test_default, test_handler, test_errno, test_threads, test_fatal)
