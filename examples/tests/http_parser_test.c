/* Tests of the HTTP parser: accepted and rejected requests, and independence of how the input is
 * split.  Each piece is a separate allocation of its exact size, so that AddressSanitizer detects a
 * read beyond its end. */
#include "http_parser.h"
#include "seed.h"

#include <string.h>

#define TEXT_MAX 10000

#define CHECK(condition, t)                                                                        \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail(#condition, __LINE__, (t));                                                       \
    } while (0)

typedef struct text {
    size_t n;
    char at[TEXT_MAX];
} text;

typedef struct outcome {
    int result;
    http_parser parser;
} outcome;

static _Noreturn void fail(const char *what, int line, const text *t)
{
    fprintf(stderr, "line %d: %s is not so for %zu bytes: ", line, what, t->n);
    for (size_t i = 0; i < t->n; i++)
        fprintf(stderr, t->at[i] >= ' ' && t->at[i] <= '~' ? "%c" : "\\x%02x", t->at[i] & 0xff);
    fputc('\n', stderr);
    exit(1);
}

/* ---- runs of the parser ---- */

static void parse_some(outcome *o, const text *t, size_t n)
{
    char *copy = malloc(n ? n : 1);

    if (!copy)
        abort();
    memcpy(copy, t->at, n);
    o->result = http_parse(&o->parser, copy, n);
    free(copy);
}

static bool is_same(const outcome *a, const outcome *b)
{
    const http_parser *p = &a->parser, *q = &b->parser;

    if (a->result != b->result)
        return false;
    return a->result <= 0 ||
           (p->method == q->method && p->path == q->path && p->path_n == q->path_n &&
            p->body == q->body && p->keep_alive == q->keep_alive &&
            p->is_http_1_0 == q->is_http_1_0 && p->expects_continue == q->expects_continue);
}

static void check_sense(const outcome *o, const text *t)
{
    const http_parser *p = &o->parser;
    size_t head = (size_t)o->result;

    CHECK(head <= t->n && head <= HTTP_HEAD_MAX && t->at[head - 1] == '\n', t);
    CHECK(p->path + p->path_n < head && p->body < 1000000000000000000, t);
    CHECK(p->path_n == 0 || t->at[p->path] == '/' || t->at[p->path] == '*', t);
    CHECK(!memchr(t->at + p->path, '?', p->path_n) && !memchr(t->at + p->path, ' ', p->path_n), t);
}

/* Once it is decided, more bytes do not change it. */
static void check_cut(const outcome *whole, const text *t, size_t cut)
{
    outcome o = {0};

    parse_some(&o, t, cut);
    if (o.result == 0)
        parse_some(&o, t, t->n);
    CHECK(is_same(whole, &o), t);
}

static void check_steps(const outcome *whole, const text *t, size_t step)
{
    outcome o = {0};

    for (size_t n = 0; n < t->n && o.result == 0;) {
        n = t->n - n < step ? t->n : n + step;
        parse_some(&o, t, n);
    }
    CHECK(is_same(whole, &o), t);
}

static int check(const text *t)
{
    size_t every = t->n > 1000 ? t->n / 97 : 1;
    outcome whole = {0};

    parse_some(&whole, t, t->n);
    if (whole.result > 0)
        check_sense(&whole, t);
    for (size_t cut = 0; cut < t->n; cut += every)
        check_cut(&whole, t, cut);
    for (size_t step = every; step < every + 4; step++)
        check_steps(&whole, t, step);
    return whole.result;
}

/* ---- texts ---- */

static uint64_t state;

static size_t below(size_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n ? (size_t)(state * 0x9e3779b97f4a7c15 >> 33) % n : 0;
}

static const char *const pieces[] = {
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "HEAD /a/b?c=d HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "POST http://h:1/x HTTP/1.1\r\nhost:a\r\nContent-Length: 17\r\nExpect: 100-continue\r\n\r\n",
    "\r\nOPTIONS * HTTP/1.1\r\nHost: \r\nConnection: a,close ,b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
    "\r\n",
    "\r\n\r\n",
    "\n",
    "\r",
    " ",
    ":",
    "\t",
    "?",
    "\0",
    "Host: b\r\n",
    "Content-Length: 0\r\n",
    "Content-Length: 999999999999999999\r\n",
    "HTTP/1.1",
    "http://",
    "HTTP/9.9",
    "Expect: x\r\n",
};

#define PIECES    (sizeof pieces / sizeof *pieces)
#define SENTENCES 5 /* of them are whole requests */

static void insert(text *t, size_t where, const char *what, size_t n)
{
    if (t->n + n > TEXT_MAX)
        return;
    memmove(t->at + where + n, t->at + where, t->n - where);
    memcpy(t->at + where, what, n);
    t->n += n;
}

static void insert_piece(text *t, size_t where, size_t which)
{
    size_t n = strlen(pieces[which]);

    insert(t, where, pieces[which], n ? n : 1);
}

static void mutate(text *t)
{
    size_t where = below(t->n), n = 1 + below(t->n - where);

    switch (below(5)) {
    case 0:
        t->at[where] = (char)below(256);
        break;
    case 1:
        t->at[where] ^= (char)(1 << below(8));
        break;
    case 2:
        insert_piece(t, where, below(PIECES));
        break;
    case 3:
        n = n > 8 ? 1 + n % 8 : n;
        memmove(t->at + where, t->at + where + n, t->n - where - n);
        t->n -= n;
        break;
    default:
        n = below(50) == 0 ? HTTP_HEAD_MAX - 100 + below(200) : n;
        for (char c = (char)below(256); n > 0; n--)
            insert(t, where, &c, 1);
    }
    if (t->n == 0)
        insert(t, 0, "x", 1);
}

static void fuzz(size_t rounds)
{
    static text t;
    size_t taken = 0;

    for (size_t i = 0; i < rounds; i++) {
        t.n = 0;
        insert_piece(&t, 0, below(SENTENCES));
        for (size_t n = below(5); n > 0; n--)
            mutate(&t);
        taken += check(&t) > 0;
        for (t.n = 0; t.n < 200; t.n++)
            t.at[t.n] = (char)(below(2) ? "GET / HTTP/1.1\r\n: "[below(18)] : (char)below(256));
        check(&t);
    }
    printf("%zu of %zu mutants were requests\n", taken, rounds);
    CHECK(taken > rounds / 10 && taken < rounds, &t);
}

/* ---- what is known ---- */

static outcome outcome_of(const char *s)
{
    static text t;
    outcome o = {0};

    t.n = strlen(s);
    memcpy(t.at, s, t.n);
    check(&t);
    parse_some(&o, &t, t.n);
    return o;
}

/* The result for a head of `head` bytes followed by `rest` bytes. */
static int result_of_long(size_t head, size_t rest)
{
    static text t;
    static const char start[] = "GET / HTTP/1.1\r\nHost: ";

    memset(t.at, 'x', sizeof t.at);
    memcpy(t.at, start, sizeof start - 1);
    memcpy(t.at + head - 4, "\r\n\r\n", 4);
    t.n = head + rest;
    return check(&t);
}

static void check_limits(void)
{
    static const text none;
    outcome o;

    for (size_t rest = 0; rest < 2; rest++) {
        CHECK(result_of_long(HTTP_HEAD_MAX - 1, rest) == HTTP_HEAD_MAX - 1, &none);
        CHECK(result_of_long(HTTP_HEAD_MAX, rest) == HTTP_HEAD_MAX, &none);
        CHECK(result_of_long(HTTP_HEAD_MAX + 1, rest) == -431, &none);
        CHECK(result_of_long(HTTP_HEAD_MAX + 4, rest) == -431, &none);
    }
    o = outcome_of("GET / HTTP/1.0\r\nContent-Length: 999999999999999999\r\n\r\n");
    CHECK(o.result > 0 && o.parser.body == 999999999999999999, &none);
    CHECK(outcome_of("GET / HTTP/1.0\r\nContent-Length: 1000000000000000000\r\n").result == -400,
          &none);
}

static void check_known(void)
{
    static const text none;
    outcome o = outcome_of(pieces[1]);

    CHECK(o.parser.method == HTTP_HEAD && o.parser.is_http_1_0 && o.parser.keep_alive, &none);
    CHECK(o.parser.path == 5 && o.parser.path_n == 4, &none);
    o = outcome_of(pieces[2]);
    CHECK(o.parser.body == 17 && o.parser.expects_continue && o.parser.keep_alive, &none);
    CHECK(o.parser.path == 15 && o.parser.path_n == 2 && o.parser.method == HTTP_OTHER, &none);
    o = outcome_of(pieces[3]);
    CHECK(o.result == (int)strlen(pieces[3]) && !o.parser.keep_alive && !o.parser.is_http_1_0,
          &none);
    CHECK(outcome_of(pieces[4]).result == -501, &none);
    o = outcome_of("GET / HTTP/1.7\r\nHOST:\t a\t\r\nX:\xff\r\n\r\nrest");
    CHECK(o.result == 34 && o.parser.method == HTTP_GET && o.parser.keep_alive, &none);
    CHECK(!outcome_of("GET / HTTP/1.0\r\n\r\n").parser.keep_alive, &none);
    CHECK(outcome_of("GET / HTTP/1.0\r\nTransfer-Encoding: x\r\n\r\n").result == -400, &none);
    CHECK(outcome_of("GET / HTTP/1.1\r\nHost: a\r\n").result == 0, &none);
    CHECK(outcome_of("").result == 0, &none);
}

int main(void)
{
    const char *scale = getenv("FILCH_TEST_SCALE");

    state = seed_get() | 1;
    check_known();
    check_limits();
    fuzz(20000 / (scale ? strtoul(scale, NULL, 10) : 1));
    return 0;
}
