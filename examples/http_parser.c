/* Follows RFC 9112.  Where the RFC leaves a choice, reject what two implementations could read
 * differently. */
#include "http_parser.h"

#include <string.h>
#include <strings.h>

typedef struct span {
    const char *text;
    size_t n;
} span;

/* ---- characters ---- */

/* Bit set of the characters of a token (names, methods): "!#$%&'*+-.^_`|~", digits and letters. */
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

static bool equals_ignore_case(span s, const char *word)
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

/* The absolute form http://host/path is meant for proxies, but every server must accept it. */
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
            target.text[i] > '~') /* only visible ASCII; correct for signed and unsigned char */
            return -400;
    if (target.n == 0 ||
        (target.text[0] != '/' && !equals_ignore_case(target, "*") && !strip_host(&target)))
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
    p->is_http_1_0 = s.text[7] == '0';
    return 0;
}

/* Method, target and version, separated by one space each. */
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
    p->has_first_line = true;
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

/* A comma-separated list. */
static void add_connection(http_parser *p, span list)
{
    while (list.n > 0) {
        const char *comma = memchr(list.text, ',', list.n);
        span word = {list.text, comma ? (size_t)(comma - list.text) : list.n};
        list = skip(list, word.n + (comma != NULL));
        word = trim(word);
        p->close_said |= equals_ignore_case(word, "close");
        p->keep_said |= equals_ignore_case(word, "keep-alive");
    }
}

/* Handle the fields that affect the length of the request or the connection. */
static int add_field(http_parser *p, span name, span value)
{
    if (equals_ignore_case(name, "host"))
        return p->hosts++ > 0 ? -400 : 0;
    if (equals_ignore_case(name, "content-length"))
        return add_length(p, value);
    if (equals_ignore_case(name, "connection"))
        add_connection(p, value);
    else if (equals_ignore_case(name, "transfer-encoding"))
        p->encodings = 1;
    else if (equals_ignore_case(name, "expect") && equals_ignore_case(value, "100-continue"))
        p->expects_continue = true;
    else if (equals_ignore_case(name, "expect"))
        p->unknown_expects = 1;
    return 0;
}

/* Reject white space before the colon and folded lines: both have been used for request
 * smuggling. */
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

/* ---- the head ---- */

/* Returns 0 if the head is valid. */
static int check_head(http_parser *p)
{
    if (!p->is_http_1_0 && p->hosts == 0)
        return -400;
    if (p->encodings > 0)
        return p->lengths > 0 || p->is_http_1_0 ? -400 : -501;
    if (p->unknown_expects > 0)
        return -417;
    p->expects_continue &= !p->is_http_1_0 && p->body > 0;
    p->keep_alive = !p->close_said && (!p->is_http_1_0 || p->keep_said);
    return 0;
}

/* Returns 1 after the last line of the head. */
static int parse_line(http_parser *p, const char *text, size_t end)
{
    span line = {text + p->line, end - p->line - 1};
    int e;

    if (line.n == 0 || line.text[line.n - 1] != '\r')
        return -400;
    line.n--;
    if (line.n == 0 && !p->has_first_line) /* some clients send an empty line after a body */
        return 0;
    if (line.n > 0)
        return p->has_first_line ? parse_field(p, line) : parse_first_line(p, text, line);
    e = check_head(p);
    return e < 0 ? e : 1;
}

int http_parse(http_parser *p, const char *text, size_t n)
{
    size_t limit = n < HTTP_HEAD_MAX ? n : HTTP_HEAD_MAX;
    const char *newline;
    int e = 0;

    while (e == 0 && (newline = memchr(text + p->seen, '\n', limit - p->seen)) != NULL) {
        p->seen = (size_t)(newline - text) + 1;
        e = parse_line(p, text, p->seen);
        p->line = p->seen;
    }
    if (e != 0)
        return e < 0 ? e : (int)p->seen;
    p->seen = limit;
    return limit == HTTP_HEAD_MAX ? -431 : 0;
}
