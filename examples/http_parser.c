/* As RFC 9112 has it, and where that leaves a choice, strict: what two parties could read in two ways is refused. */
#include "http_parser.h"

#include <string.h>
#include <strings.h>

typedef struct span {
    const char *text;
    size_t n;
} span;

/* ---- letters ---- */

/* Of names and methods: "!#$%&'*+-.^_`|~", digits and letters. */
static const uint32_t token_bits[8] = {0, 0x03ff6cfa, 0xc7fffffe, 0x57ffffff};

static bool is_token_char(char letter)
{
    unsigned char c = (unsigned char)letter;

    return token_bits[c >> 5] >> (c & 31) & 1;
}

static size_t token_length(span s)
{
    size_t n = 0;

    while (n < s.n && is_token_char(s.text[n]))
        n++;
    return n;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether its letters are small does not matter. */
static bool is_word(span s, const char *word)
{
    return s.n == strlen(word) && strncasecmp(s.text, word, s.n) == 0;
}

static span skip(span s, size_t n)
{
    return (span){s.text + n, s.n - n};
}

static span trim(span s)
{
    while (s.n > 0 && is_blank(s.text[0]))
        s = skip(s, 1);
    while (s.n > 0 && is_blank(s.text[s.n - 1]))
        s.n--;
    return s;
}

/* ---- the first line ---- */

static http_method method_of(span s)
{
    if (s.n == 3 && memcmp(s.text, "GET", 3) == 0)
        return HTTP_GET;
    return s.n == 4 && memcmp(s.text, "HEAD", 4) == 0 ? HTTP_HEAD : HTTP_OTHER;
}

/* http://host/path is for proxies, but must be understood by all. */
static bool strip_host(span *target)
{
    size_t host = sizeof "http://" - 1, at = host;

    if (target->n <= host || strncasecmp(target->text, "http://", host) != 0)
        return false;
    while (at < target->n && target->text[at] != '/' && target->text[at] != '?')
        at++;
    *target = skip(*target, at);
    return at > host;
}

static int parse_target(http_parser *p, const char *text, span target)
{
    const char *query;

    for (size_t i = 0; i < target.n; i++)
        if (target.text[i] <= ' ' ||
            target.text[i] > '~') /* signed or not, that is what can be seen */
            return -400;
    if (target.n == 0 || (target.text[0] != '/' && !is_word(target, "*") && !strip_host(&target)))
        return -400;
    query = memchr(target.text, '?', target.n);
    p->path = (size_t)(target.text - text);
    p->path_n = query ? (size_t)(query - target.text) : target.n;
    return 0;
}

static int parse_version(http_parser *p, span s)
{
    if (s.n != 8 || memcmp(s.text, "HTTP/", 5) != 0 || !is_digit(s.text[5]) || s.text[6] != '.' ||
        !is_digit(s.text[7]))
        return -400;
    if (s.text[5] != '1')
        return -505;
    p->old = s.text[7] == '0';
    return 0;
}

/* Method, target and version, with one blank between them. */
static int parse_first_line(http_parser *p, const char *text, span line)
{
    span method = {line.text, token_length(line)}, target;
    const char *blank;
    int e;

    if (method.n == 0 || method.n == line.n || line.text[method.n] != ' ')
        return -400;
    target = skip(line, method.n + 1);
    blank = memchr(target.text, ' ', target.n);
    if (!blank)
        return -400;
    line = skip(target, (size_t)(blank - target.text) + 1);
    target.n = (size_t)(blank - target.text);
    e = parse_version(p, line);
    p->method = method_of(method);
    p->begun = true;
    return e < 0 ? e : parse_target(p, text, target);
}

/* ---- fields ---- */

static int add_length(http_parser *p, span value)
{
    if (p->lengths++ > 0 || value.n == 0 || value.n > 18)
        return -400;
    for (size_t i = 0; i < value.n; i++) {
        if (!is_digit(value.text[i]))
            return -400;
        p->body = p->body * 10 + (uint64_t)(value.text[i] - '0');
    }
    return 0;
}

/* Words with commas between them. */
static void add_connection(http_parser *p, span list)
{
    while (list.n > 0) {
        const char *comma = memchr(list.text, ',', list.n);
        span word = {list.text, comma ? (size_t)(comma - list.text) : list.n};
        list = skip(list, word.n + (comma != NULL));
        word = trim(word);
        p->close_said |= is_word(word, "close");
        p->keep_said |= is_word(word, "keep-alive");
    }
}

/* Those that say how long a request is and what comes after it; others do not matter here. */
static int add_field(http_parser *p, span name, span value)
{
    if (is_word(name, "host"))
        return p->hosts++ > 0 ? -400 : 0;
    if (is_word(name, "content-length"))
        return add_length(p, value);
    if (is_word(name, "connection"))
        add_connection(p, value);
    else if (is_word(name, "transfer-encoding"))
        p->encodings = 1;
    else if (is_word(name, "expect") && is_word(value, "100-continue"))
        p->expects = true;
    else if (is_word(name, "expect"))
        p->unknown_expects = 1;
    return 0;
}

/* No blank before the colon, and no line that goes on in the next: servers have been fooled with both. */
static int parse_field(http_parser *p, span line)
{
    span name = {line.text, token_length(line)}, value;

    if (name.n == 0 || name.n == line.n || line.text[name.n] != ':')
        return -400;
    value = skip(line, name.n + 1);
    for (size_t i = 0; i < value.n; i++) {
        unsigned char c = (unsigned char)value.text[i];
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return -400;
    }
    return add_field(p, name, trim(value));
}

/* ---- all of it ---- */

/* 0: it may be answered. */
static int judge(http_parser *p)
{
    if (!p->old && p->hosts == 0)
        return -400;
    if (p->encodings > 0)
        return p->lengths > 0 || p->old ? -400 : -501;
    if (p->unknown_expects > 0)
        return -417;
    p->expects &= !p->old && p->body > 0;
    p->keep_alive = !p->close_said && (!p->old || p->keep_said);
    return 0;
}

/* 1: that was the last. */
static int parse_line(http_parser *p, const char *text, size_t end)
{
    span line = {text + p->line, end - p->line - 1};
    int e;

    if (line.n == 0 || line.text[line.n - 1] != '\r')
        return -400;
    line.n--;
    if (line.n == 0 && !p->begun) /* some clients send an empty line after a body */
        return 0;
    if (line.n > 0)
        return p->begun ? parse_field(p, line) : parse_first_line(p, text, line);
    e = judge(p);
    return e < 0 ? e : 1;
}

int http_parse(http_parser *p, const char *text, size_t n)
{
    size_t room = n < HTTP_HEAD_MAX ? n : HTTP_HEAD_MAX;
    const char *newline;
    int e = 0;

    while (e == 0 && (newline = memchr(text + p->seen, '\n', room - p->seen)) != NULL) {
        p->seen = (size_t)(newline - text) + 1;
        e = parse_line(p, text, p->seen);
        p->line = p->seen;
    }
    if (e != 0)
        return e < 0 ? e : (int)p->seen;
    p->seen = room;
    return room == HTTP_HEAD_MAX ? -431 : 0;
}
