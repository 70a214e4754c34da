/* Text for HTML and XML. */
#ifndef CLI_LAB_ESCAPE_H
#define CLI_LAB_ESCAPE_H

#include <stdio.h>

/* Write it so that it is read as text, within an element or between quotes, whatever is in it. */
void escape(FILE *out, const char *text);

#endif
