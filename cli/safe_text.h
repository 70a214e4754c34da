/* Text of another process: a name may be anything. */
#ifndef CLI_SAFE_TEXT_H
#define CLI_SAFE_TEXT_H

#include <stdio.h>

/* The number of bytes of the UTF-8 character that begins here; 0: there is none. */
int utf8_length(const char *text);

/* Print at most width characters.  Bytes that control a terminal, and bytes that are not UTF-8,
 * are printed as "?". */
void print_safe_text(FILE *out, const char *text, int width);

#endif
