/* Print text of another process. */
#include "safe_text.h"

#include <stdbool.h>

/* Overlong forms, surrogates and numbers above 10ffff are not UTF-8.  The second byte shows them. */
static bool is_second_byte(unsigned first, unsigned second)
{
    unsigned min = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned max = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return second >= min && second <= max;
}

int utf8_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    int n = c[0] < 0x80   ? 1
            : c[0] < 0xc2 ? 0
            : c[0] < 0xe0 ? 2
            : c[0] < 0xf0 ? 3
            : c[0] < 0xf5 ? 4
                          : 0;
    if (n > 1 && !is_second_byte(c[0], c[1]))
        return 0;
    for (int i = 2; i < n; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* The same, without characters that a terminal obeys. */
static int character_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    return c[0] < ' ' || c[0] == 0x7f || (c[0] == 0xc2 && c[1] < 0xa0) ? 0 : utf8_length(text);
}

/* A name may be anything, or cut off in the middle of a character. */
void print_safe_text(FILE *out, const char *text, int width)
{
    for (int column = 0; column < width && *text; column++) {
        int n = character_length(text);
        fwrite(n > 0 ? text : "?", n > 0 ? (size_t)n : 1, 1, out);
        text += n > 0 ? n : 1;
    }
}
